#if Networking
/// The kinds of picture that are decoded, told by the data's first bytes and by nothing else (rule I3).
public enum ImageFormat: String, CaseIterable, Codable, Sendable {
    case jpeg
    case png
    case gif
    case webP = "webp"

    /// The format that data with these first bytes claims to have; nil if they are of none of these formats, or too few
    /// to tell. Twelve bytes always suffice. What a server says about the type is not asked.
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

    /// As in the header `Content-Type`.
    public var mediaType: String { "image/\(rawValue)" }

    /// Whether a file of this format may hold more than one frame that is decoded.
    public var isAnimatable: Bool { self == .gif || self == .webP }
}
#endif
