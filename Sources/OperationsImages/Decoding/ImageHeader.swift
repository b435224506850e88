#if Networking
/// What an image file says of itself, read without decoding it and without any library (rule I3). A plain value.
///
/// Reading takes time linear in the data and never fails but with an error, whatever the data is. It looks at headers only:
/// what follows them may still be damaged.
public struct ImageHeader: Hashable, Sendable {
    public let format: ImageFormat
    /// In pixels, as stored: a photograph's EXIF orientation may turn it when it is decoded.
    public let width: Int
    /// In pixels, as stored: a photograph's EXIF orientation may turn it when it is decoded.
    public let height: Int
    /// At least one. More than one in animated GIF and WebP only; of an animated PNG there is one.
    public internal(set) var frameCount = 1
    /// Whether rows come in several passes (interlaced PNG, progressive JPEG), so that a decoder keeps the whole image.
    public internal(set) var isInterlaced = false
    /// What a decoder keeps for each pixel of an interlaced image, besides its result.
    var bytesPerStoredPixel = 0

    init(_ format: ImageFormat, width: Int, height: Int) {
        self.format = format
        self.width = width
        self.height = height
    }

    /// Fails with `emptyData`, `unknownFormat`, `zeroSize`, or `undecodable` where the headers are damaged or cut off.
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

    /// The bytes that decoding this many frames at full size needs at most: four a pixel, and what an interlaced image or
    /// an animation needs besides. Never overflows. The encoded data does not count.
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

    /// Of headers that end before the size is known.
    static func cutOff(_ format: ImageFormat) -> ImageError {
        .undecodable(format, reason: "the data ends within the headers")
    }
}
#endif
