/// An image with its source.
public struct LoadedImage: Sendable {
    /// The place that an image came from.
    public enum Source: String, Sendable {
        /// The memory of the loader, which contains decoded images.
        case memory
        /// The cache of the loader or of the session.
        case disk
        /// The network.
        case network
    }

    /// The decoded image.
    public let image: DecodedImage
    /// The place that the image came from.
    public let source: Source
    /// The requested address without user name and password.
    public let url: String
}
