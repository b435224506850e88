/// A reader of the blocks of a GIF. It does not decode pixels.
struct GIFReader {
    struct Frame {
        let left: Int, top: Int, width: Int, height: Int
        /// The number of colors in the table of the frame.
        let colours: Int
        /// The graphic control extension before the frame, or nil.
        let control: Control?
        /// Whether all data of the frame is present.
        let isComplete: Bool
    }

    struct Control {
        /// The position of the byte with the flags. The delay and the transparent color follow.
        let position: Int
        let flags: Int
        let delay: Int

        /// Whether one color of the frame is transparent.
        var hasTransparentColour: Bool { flags & 1 == 1 }
        /// Whether the area of the frame is cleared after its display.
        var isCleared: Bool { flags >> 2 & 7 == 2 }
    }

    /// The size of the canvas. A frame can exceed the canvas.
    let width: Int, height: Int
    private let globalColours: Int
    private var reader: ByteReader
    private var control: Control?
    /// The position after the last complete block.
    private(set) var end: Int
    /// Whether the data ends within a block, or within the blocks of a frame. Without the mark of the end, a file is complete.
    private(set) var isTruncated = false

    /// Returns nil if the data ends before the first block.
    init?(_ bytes: [UInt8]) {
        reader = ByteReader(bytes)
        _ = reader.skip(6)
        guard let width = reader.littleEndian(2), let height = reader.littleEndian(2), let flags = reader.byte(),
            reader.skip(2), reader.skip(3 * Self.colours(flags))
        else { return nil }
        (self.width, self.height, globalColours, end) = (width, height, Self.colours(flags), reader.position)
    }

    /// Returns the next frame whose descriptor is present. Returns nil at the end, and at a block of an unknown kind.
    mutating func next() -> Frame? {
        while let kind = reader.byte() {
            switch kind {
            case 0x21:
                let control = graphicControl() ?? control
                isTruncated = !reader.skip(1) || !skipBlocks()
                if isTruncated { return nil }
                (self.control, end) = (control, reader.position)
            case 0x2C:
                let frame = frame()
                isTruncated = frame?.isComplete != true
                return frame
            default: return nil
            }
        }
        isTruncated = isTruncated || control != nil
        return nil
    }

    private func graphicControl() -> Control? {
        guard reader.peek() == 0xF9, let size = reader.peek(1), size >= 4, let flags = reader.peek(2),
            let low = reader.peek(3), let high = reader.peek(4)
        else { return nil }
        return Control(position: reader.position + 2, flags: flags, delay: low | high << 8)
    }

    private mutating func frame() -> Frame? {
        guard let left = reader.littleEndian(2), let top = reader.littleEndian(2), let width = reader.littleEndian(2),
            let height = reader.littleEndian(2), let flags = reader.byte(), reader.skip(3 * Self.colours(flags))
        else { return nil }
        let isComplete = reader.skip(1) && skipBlocks()
        defer {
            control = nil
            if isComplete { end = reader.position }
        }
        return Frame(
            left: left, top: top, width: width, height: height,
            colours: flags & 0x80 == 0 ? globalColours : Self.colours(flags), control: control, isComplete: isComplete)
    }

    private static func colours(_ flags: Int) -> Int { flags & 0x80 == 0 ? 0 : 1 << ((flags & 7) + 1) }

    private mutating func skipBlocks() -> Bool {
        while let length = reader.byte() {
            if length == 0 { return true }
            guard reader.skip(length) else { return false }
        }
        return false
    }
}
