#if Networking
/// What is asked of a decoder. Equal options give equal images of equal data, so they may be part of a cache's key.
public struct ImageDecodingOptions: Hashable, Codable, Sendable {
    public enum Frames: Hashable, Codable, Sendable {
        case first
        /// Of an animation, all; at most so many, and the memory limit counts every one of them.
        case all(limit: Int = 1_000)
    }

    /// The longer side of the result has at most so many pixels; nil for as many as the source has. It is never enlarged,
    /// and at least 1. Shrinking while decoding saves most of the time and memory.
    public var maxPixelSize: Int?
    public var frames: Frames
    /// In bytes. What an image would need at full size is compared with this before a decoder sees any data, also where
    /// a thumbnail is asked, which needs much less: it is the measure of a file that may be hostile. 512 MiB by default:
    /// a photograph of 134 million pixels.
    public var memoryLimit: Int

    public init(maxPixelSize: Int? = nil, frames: Frames = .first, memoryLimit: Int = 512 << 20) {
        self.maxPixelSize = maxPixelSize
        self.frames = frames
        self.memoryLimit = memoryLimit
    }

    /// How many frames of this image are asked for.
    func frameCount(of header: ImageHeader) -> Int {
        switch frames {
        case .first: 1
        case .all(let limit): max(1, min(limit, header.frameCount))
        }
    }
}
#endif
