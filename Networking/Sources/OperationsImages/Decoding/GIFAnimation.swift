#if Images
/// The properties of a GIF that libvips 8.14 reports wrongly.
struct GIFAnimation {
    /// The duration of each frame in the file. libvips reports 100 ms for a frame without a duration.
    let durations: [Duration]
    /// The file for libvips.
    ///
    /// In a GIF without a transparent color, libvips makes black the parts of the canvas that no frame covers, and gives cleared
    /// parts the background color. Browsers make both transparent, and so does libvips for a frame with a transparent color.
    /// The file has such a color, which no pixel uses.
    let file: [UInt8]

    /// A frame of one transparent pixel, which follows the frames of the file and is never decoded.
    private static let transparentFrame: [UInt8] = [
        0x21, 0xF9, 4, 1, 0, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 0, 2, 2, 0x44, 1, 0,
    ]

    /// Reads the first frames, at most `limit`.
    ///
    /// - Throws: `undecodable` if the file is truncated before their end. libvips repeats the previous frame in place of a
    ///   truncated one.
    init(_ bytes: [UInt8], limit: Int) throws(ImageError) {
        var (durations, hidden, cleared) = ([Duration](), false, [GIFReader.Control]())
        var (isTransparent, isFirst) = (false, true)
        guard var reader = GIFReader(bytes) else { throw ImageHeader.cutOff(.gif) }
        while let frame = reader.next() {
            if frame.control?.hasTransparentColour == true { isTransparent = true }
            guard durations.count < limit, frame.isComplete else { continue }
            durations.append(.milliseconds(10 * (frame.control?.delay ?? 0)))
            if isFirst {
                hidden = frame.left > 0 || frame.top > 0 || frame.width < reader.width || frame.height < reader.height
            }
            isFirst = false
            // A table of fewer colors leaves the last index unused.
            if let control = frame.control, control.isCleared, !control.hasTransparentColour, frame.colours < 256 {
                cleared.append(control)
            }
        }
        if reader.isTruncated, durations.count < limit { throw .undecodable(.gif, reason: "the file is truncated") }
        self.durations = durations
        guard !cleared.isEmpty || hidden && !isTransparent else {
            file = bytes
            return
        }
        var file = Array(bytes[..<reader.end])
        for control in cleared {
            file[control.position] |= 1
            file[control.position + 3] = 0xFF
        }
        self.file = file + (cleared.isEmpty ? Self.transparentFrame : []) + [0x3B]
    }
}
#endif
