/// The result of a decoder: one frame, or the frames of an animation. The image is upright, regardless of the
/// orientation in the file.
public struct DecodedImage: Hashable, Sendable {
    /// A frame of an animation, or the only frame of an image.
    public struct Frame: Hashable, Sendable {
        /// The pixels of the frame.
        public let image: RasterImage
        /// The duration in the file, or zero if the file contains none. The code that displays the animation decides
        /// how to treat durations near zero. Browsers show a frame of a GIF with at most 10 ms for 100 ms.
        public let duration: Duration

        /// Creates a frame.
        public init(image: RasterImage, duration: Duration = .zero) {
            self.image = image
            self.duration = duration
        }
    }

    /// The format of the file, or nil if the image does not come from a file.
    public let format: ImageFormat?
    /// The frames, at least one, which all have the same size.
    public let frames: [Frame]
    /// The number of times that an animation plays, or nil for an endless animation.
    public let loopCount: Int?

    /// Returns nil if `frames` is empty, or if a frame has another size than the first.
    public init?(format: ImageFormat? = nil, frames: [Frame], loopCount: Int? = nil) {
        guard let first = frames.first?.image,
            frames.allSatisfy({ $0.image.width == first.width && $0.image.height == first.height })
        else { return nil }
        self.format = format
        self.frames = frames
        self.loopCount = loopCount
    }

    /// Creates an image with one frame.
    public init(_ image: RasterImage) {
        format = nil
        frames = [Frame(image: image)]
        loopCount = nil
    }

    /// The first frame.
    public var image: RasterImage { frames[0].image }
    /// The width in pixels.
    public var width: Int { image.width }
    /// The height in pixels.
    public var height: Int { image.height }
    /// Whether the image has more than one frame.
    public var isAnimated: Bool { frames.count > 1 }
    /// The size of all pixels in bytes, which is the cost of the image in a memory cache.
    public var byteCount: Int { frames.count * image.pixels.count }
}
