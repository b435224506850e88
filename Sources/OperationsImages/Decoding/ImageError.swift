#if Networking
/// Why there is no image (rule I3). What the transfer failed with is an `HTTPError`.
public enum ImageError: Error, Hashable, Sendable {
    /// There is not one byte.
    case emptyData
    /// The first bytes are of no format that is decoded.
    case unknownFormat
    /// The image, or one of its frames, has no pixels: its width or height is zero.
    case zeroSize(ImageFormat)
    /// Decoding would need more memory than `ImageDecodingOptions.memoryLimit` allows; both in bytes. Raise the limit if
    /// the source can be trusted.
    case tooLarge(neededBytes: Int, allowedBytes: Int)
    /// The data is damaged, or uses what is not understood; the reason is for people.
    case undecodable(ImageFormat, reason: String)
    /// There is no such file of this image, or the library has failed to make it; the reason is for people.
    case unencodable(ImageFormat, reason: String)
    case cancelled
    /// Built without the trait `Images`: turn it on, or give a decoder of your own.
    case builtWithoutImages
}

extension ImageError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .emptyData: "there is no data"
        case .unknownFormat: "the data is neither JPEG, PNG, GIF nor WebP"
        case .zeroSize(let format): "the \(format.rawValue) image has no pixels"
        case .tooLarge(let needed, let allowed):
            "decoding needs \(needed) bytes, and memoryLimit allows \(allowed)"
        case .undecodable(let format, let reason): "the \(format.rawValue) image cannot be decoded: \(reason)"
        case .unencodable(let format, let reason): "the image cannot be encoded as \(format.rawValue): \(reason)"
        case .cancelled: "cancelled"
        case .builtWithoutImages:
            "built without the trait Images: turn it on for swift-operations, or give an ImageDecoder of your own"
        }
    }
}
#endif
