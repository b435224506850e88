extension ImageHeader {
    /// Parses a GIF. The parser visits all blocks, because the file contains no number of frames. A truncated file has
    /// the frames that have begun.
    static func gif(_ bytes: [UInt8]) throws(ImageError) -> Self {
        guard var reader = GIFReader(bytes) else { throw cutOff(.gif) }
        var (width, height, frames) = (reader.width, reader.height, 0)
        while let frame = reader.next() {
            guard frame.width > 0, frame.height > 0 else { throw .zeroSize(.gif) }
            frames += 1
            // A frame can exceed the screen. Decoders then enlarge the screen, so that the size must include the frame.
            width = max(width, frame.left + frame.width)
            height = max(height, frame.top + frame.height)
        }
        guard frames > 0 else { throw .undecodable(.gif, reason: "there is no frame") }
        var header = Self(.gif, width: width, height: height)
        header.frameCount = frames
        return header
    }
}
