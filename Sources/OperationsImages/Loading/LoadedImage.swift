#if Networking
/// An image and where it comes from.
public struct LoadedImage: Sendable {
    public enum Source: String, Sendable {
        /// It was decoded already.
        case memory
        /// Of the loader's cache, or of the session's.
        case disk
        case network
    }

    public let image: DecodedImage
    public let source: Source
    /// As it was asked for, without user name and password.
    public let url: String
}
#endif
