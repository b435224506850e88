/// The options of a decoder. The same data and equal options produce equal images, so that the options can be part of a
/// cache's key.
public struct ImageDecodingOptions: Hashable, Codable, Sendable {
    /// The frames of an animation to decode.
    public enum Frames: Hashable, Codable, Sendable {
        /// The first frame only.
        case first
        /// All frames of an animation, up to `limit`. The memory limit applies to all frames together.
        case all(limit: Int = 1_000)
    }

    /// The maximum number of pixels of the longer side, or nil for the size of the source. The decoder never enlarges
    /// an image. Values below 1 count as 1. A decoder that shrinks the image while it decodes saves most of the time
    /// and memory.
    public var maxPixelSize: Int?
    /// The frames to decode.
    public var frames: Frames
    /// The maximum memory of an image at full size, in bytes. The check happens before a decoder receives any data. The
    /// check uses the full size even for a thumbnail, which needs much less, because the limit protects against hostile
    /// files. The default is 512 MiB, which corresponds to a photograph of 134 million pixels.
    public var memoryLimit: Int

    /// Creates options. The default decodes the first frame at the size of the source.
    public init(maxPixelSize: Int? = nil, frames: Frames = .first, memoryLimit: Int = 512 << 20) {
        self.maxPixelSize = maxPixelSize
        self.frames = frames
        self.memoryLimit = memoryLimit
    }

    /// The maximum number of frames to decode, at least 1.
    var frameLimit: Int {
        switch frames {
        case .first: 1
        case .all(let limit): max(1, limit)
        }
    }

    /// Returns the number of frames to decode.
    func frameCount(of header: ImageHeader) -> Int { min(frameLimit, header.frameCount) }
}
