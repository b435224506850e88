#if Networking
/// What a decoder has made of a file: one frame, or those of an animation. Upright, whatever the file's orientation.
public struct DecodedImage: Hashable, Sendable {
    public struct Frame: Hashable, Sendable {
        public let image: RasterImage
        /// As the file says; zero where it says nothing. Who shows it decides what becomes of durations near zero.
        public let duration: Duration

        public init(image: RasterImage, duration: Duration = .zero) {
            self.image = image
            self.duration = duration
        }
    }

    /// Of the file; nil if the image comes from none.
    public let format: ImageFormat?
    /// At least one, all of one size.
    public let frames: [Frame]
    /// How often an animation runs; nil: without end.
    public let loopCount: Int?

    /// Nil if there is no frame, or one has another size than the first.
    public init?(format: ImageFormat? = nil, frames: [Frame], loopCount: Int? = nil) {
        guard let first = frames.first?.image,
            frames.allSatisfy({ $0.image.width == first.width && $0.image.height == first.height })
        else { return nil }
        self.format = format
        self.frames = frames
        self.loopCount = loopCount
    }

    public init(_ image: RasterImage) {
        format = nil
        frames = [Frame(image: image)]
        loopCount = nil
    }

    /// The first frame.
    public var image: RasterImage { frames[0].image }
    /// In pixels.
    public var width: Int { image.width }
    /// In pixels.
    public var height: Int { image.height }
    public var isAnimated: Bool { frames.count > 1 }
    /// Of all pixels, in bytes: what the image costs in a memory cache.
    public var byteCount: Int { frames.count * image.pixels.count }
}
#endif
