/// An error of decoding or encoding an image. A failed transfer throws an `HTTPError`.
public enum ImageError: Error, Hashable, Sendable {
    /// The data is empty.
    case emptyData
    /// The first bytes belong to no supported format.
    case unknownFormat
    /// The image or one of its frames has a width or height of zero.
    case zeroSize(ImageFormat)
    /// Decoding needs more memory than `ImageDecodingOptions.memoryLimit`. Both numbers are in bytes. If you trust the
    /// source, raise the limit.
    case tooLarge(neededBytes: Int, allowedBytes: Int)
    /// The data is damaged or uses unsupported features. The reason is a text for people.
    case undecodable(ImageFormat, reason: String)
    /// The format cannot store the image, or the library failed. The reason is a text for people.
    case unencodable(ImageFormat, reason: String)
    /// The operation was cancelled.
    case cancelled
    /// The package was built without the trait `Images`. Enable the trait, or use another decoder.
    case builtWithoutImages
}

extension ImageError: CustomStringConvertible {
    /// A description of the error for people.
    public var description: String {
        switch self {
        case .emptyData: "the data is empty"
        case .unknownFormat: "the data is not JPEG, PNG, GIF or WebP"
        case .zeroSize(let format): "the \(format.rawValue) image has no pixels"
        case .tooLarge(let needed, let allowed):
            "decoding needs \(needed) bytes, and memoryLimit allows \(allowed)"
        case .undecodable(let format, let reason): "the \(format.rawValue) image cannot be decoded: \(reason)"
        case .unencodable(let format, let reason): "the image cannot be encoded as \(format.rawValue): \(reason)"
        case .cancelled: "cancelled"
        case .builtWithoutImages:
            "built without the trait Images: enable it for swift-operations, or use another ImageDecoder"
        }
    }
}
