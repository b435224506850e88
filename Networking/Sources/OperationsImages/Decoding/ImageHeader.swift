/// The properties in the headers of an image file. The parser does not decode the image and needs no library.
///
/// The time is linear in the size of the data. The parser reads the headers only, so that the rest of the data can
/// still be damaged.
public struct ImageHeader: Hashable, Sendable {
    /// The format of the file.
    public let format: ImageFormat
    /// The stored width in pixels. The EXIF orientation of a photograph can swap the width and the height of the
    /// decoded image.
    public let width: Int
    /// The stored height in pixels. The EXIF orientation of a photograph can swap the width and the height of the
    /// decoded image.
    public let height: Int
    /// The number of frames, at least 1. Only animated GIF and WebP have more than one. An animated PNG counts as one
    /// frame.
    public internal(set) var frameCount = 1
    /// Whether the file stores the rows in several passes: an interlaced PNG, a progressive JPEG, or a JPEG with a scan for
    /// each component. A decoder then keeps the complete image in memory.
    public internal(set) var isInterlaced = false
    /// The number of bytes that a decoder keeps for each pixel of an interlaced image, in addition to the result.
    var bytesPerStoredPixel = 0

    init(_ format: ImageFormat, width: Int, height: Int) {
        self.format = format
        self.width = width
        self.height = height
    }

    /// Parses the headers of an image file.
    ///
    /// - Throws: `emptyData`, `unknownFormat`, `zeroSize`, or `undecodable` if the headers are damaged or truncated.
    public init(_ bytes: [UInt8]) throws(ImageError) {
        guard !bytes.isEmpty else { throw .emptyData }
        guard let format = ImageFormat(sniffing: bytes.prefix(12)) else { throw .unknownFormat }
        let header =
            switch format {
            case .jpeg: try Self.jpeg(bytes)
            case .png: try Self.png(bytes)
            case .gif: try Self.gif(bytes)
            case .webP: try Self.webP(bytes)
            }
        guard header.width > 0, header.height > 0 else { throw .zeroSize(format) }
        self = header
    }

    /// Returns an upper bound of the memory for decoding `frames` frames at full size, in bytes. The bound includes
    /// four bytes for each pixel, and additional memory for interlaced images and animations. The bound excludes the
    /// encoded data. The computation never overflows.
    public func decodedByteCount(frames: Int = 1) -> Int {
        let pixels = Self.product(width, height)
        let result = Self.product(pixels, Self.product(4, frames))
        let canvas = format.isAnimatable ? Self.product(pixels, 4) : 0
        let stored = Self.product(pixels, isInterlaced ? bytesPerStoredPixel : 0)
        return Self.sum(result, Self.sum(canvas, stored))
    }

    private static func product(_ a: Int, _ b: Int) -> Int {
        let (value, overflow) = a.multipliedReportingOverflow(by: b)
        return overflow ? .max : value
    }

    private static func sum(_ a: Int, _ b: Int) -> Int {
        let (value, overflow) = a.addingReportingOverflow(b)
        return overflow ? .max : value
    }

    /// Returns the error for headers that end before the size.
    static func cutOff(_ format: ImageFormat) -> ImageError {
        .undecodable(format, reason: "the headers are truncated")
    }
}
