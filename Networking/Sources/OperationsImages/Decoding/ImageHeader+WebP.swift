extension ImageHeader {
    /// Parses a WebP. The parser visits all chunks, because the extended format contains no number of frames. The size
    /// is the largest size that any chunk claims. The decoder rejects a frame that exceeds the canvas.
    static func webP(_ bytes: [UInt8]) throws(ImageError) -> Self {
        var reader = ByteReader(bytes)
        _ = reader.skip(12)
        var width = 0
        var height = 0
        var frames = 0
        var claims = 0
        while let tag = reader.tag(), let length = reader.littleEndian(4) {
            var chunk = reader
            let size: (width: Int, height: Int)? =
                switch tag {
                case "VP8 ": lossySize(&chunk)
                case "VP8L": losslessSize(&chunk)
                case "VP8X": chunk.skip(4) ? sizeLessOne(&chunk) : nil
                case "ANMF": chunk.skip(6) ? sizeLessOne(&chunk) : nil
                default: (width, height)
                }
            guard let size else { break }
            if tag == "VP8 " || tag == "VP8L" || tag == "VP8X" || tag == "ANMF" { claims += 1 }
            if tag == "ANMF" { frames += 1 }
            width = max(width, size.width)
            height = max(height, size.height)
            guard reader.skip(length + length & 1) else { break }
        }
        guard claims > 0 else {
            throw reader.remaining == 0 ? cutOff(.webP) : .undecodable(.webP, reason: "the first chunk is damaged")
        }
        var header = Self(.webP, width: width, height: height)
        header.frameCount = max(frames, 1)
        return header
    }

    private static func sizeLessOne(_ chunk: inout ByteReader) -> (width: Int, height: Int)? {
        guard let width = chunk.littleEndian(3), let height = chunk.littleEndian(3) else { return nil }
        return (width + 1, height + 1)
    }

    private static func lossySize(_ chunk: inout ByteReader) -> (width: Int, height: Int)? {
        guard chunk.skip(3), chunk.bigEndian(3) == 0x9D_01_2A, let width = chunk.littleEndian(2),
            let height = chunk.littleEndian(2)
        else { return nil }
        return (width & 0x3FFF, height & 0x3FFF)
    }

    private static func losslessSize(_ chunk: inout ByteReader) -> (width: Int, height: Int)? {
        guard chunk.byte() == 0x2F, let bits = chunk.littleEndian(4) else { return nil }
        return ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    }
}
