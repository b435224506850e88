/// The supported image formats. The first bytes of the data determine the format.
public enum ImageFormat: String, CaseIterable, Codable, Sendable {
    case jpeg
    case png
    case gif
    case webP = "webp"

    /// Returns the format that the first bytes of the data claim. Returns nil if the bytes belong to no supported
    /// format, or if there are too few bytes. Twelve bytes are always enough. The type that the server sends has no
    /// influence.
    public init?(sniffing bytes: some Sequence<UInt8>) {
        let start = Array(bytes.prefix(12))
        func has(_ signature: String.UTF8View, at offset: Int = 0) -> Bool {
            start.dropFirst(offset).starts(with: signature)
        }
        if start.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if start.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if has("GIF87a".utf8) || has("GIF89a".utf8) {
            self = .gif
        } else if has("RIFF".utf8), has("WEBP".utf8, at: 8) {
            self = .webP
        } else {
            return nil
        }
    }

    /// The media type for the header `Content-Type`.
    public var mediaType: String { "image/\(rawValue)" }

    /// Whether the decoder can read more than one frame from a file of this format.
    public var isAnimatable: Bool { self == .gif || self == .webP }
}
