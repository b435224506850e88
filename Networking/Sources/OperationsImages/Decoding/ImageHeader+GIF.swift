extension ImageHeader {
    /// Parses a GIF. The parser visits all blocks, because the file contains no number of frames. A truncated file has
    /// the frames that have begun.
    static func gif(_ bytes: [UInt8]) throws(ImageError) -> Self {
        var reader = ByteReader(bytes)
        _ = reader.skip(6)
        guard var width = reader.littleEndian(2), var height = reader.littleEndian(2), let flags = reader.byte(),
            reader.skip(2), reader.skip(colourTable(flags))
        else { throw cutOff(.gif) }
        var frames = 0
        walk: while let kind = reader.byte() {
            switch kind {
            case 0x21:
                guard reader.skip(1), skipBlocks(&reader) else { break walk }
            case 0x2C:
                guard let frame = gifFrame(&reader) else { break walk }
                guard frame.width > 0, frame.height > 0 else { throw .zeroSize(.gif) }
                frames += 1
                // A frame can exceed the screen. Decoders then enlarge the screen, so that the size must include the
                // frame.
                width = max(width, frame.right)
                height = max(height, frame.bottom)
                guard reader.skip(1), skipBlocks(&reader) else { break walk }
            default: break walk
            }
        }
        guard frames > 0 else { throw .undecodable(.gif, reason: "there is no frame") }
        var header = Self(.gif, width: width, height: height)
        header.frameCount = frames
        return header
    }

    private static func gifFrame(
        _ reader: inout ByteReader
    ) -> (width: Int, height: Int, right: Int, bottom: Int)? {
        guard let left = reader.littleEndian(2), let top = reader.littleEndian(2), let width = reader.littleEndian(2),
            let height = reader.littleEndian(2), let flags = reader.byte(), reader.skip(colourTable(flags))
        else { return nil }
        return (width, height, left + width, top + height)
    }

    private static func colourTable(_ flags: Int) -> Int { flags & 0x80 == 0 ? 0 : 3 << ((flags & 7) + 1) }

    private static func skipBlocks(_ reader: inout ByteReader) -> Bool {
        while let length = reader.byte() {
            if length == 0 { return true }
            guard reader.skip(length) else { return false }
        }
        return false
    }
}
