/// A range of media types: `image/png`, `image/*`, `*/*`, or all types with a suffix. The range `*/*+json` contains
/// `application/ld+json` and `application/json`.
public struct MediaRange: Hashable, Sendable, LosslessStringConvertible, ExpressibleByStringLiteral {
    /// The type in lower case, or nil for every type.
    private let type: String?
    private let subtype: Subtype

    private enum Subtype: Hashable, Sendable {
        case all
        case suffix(String)
        case exactly(String)
    }

    /// Returns nil if the text is not a media range. The parser ignores parameters.
    public init?(_ text: String) {
        guard let media = MediaType(text), media.type != "*" || media.subtype.hasPrefix("*") else { return nil }
        type = media.type == "*" ? nil : media.type
        if media.subtype == "*" {
            subtype = .all
        } else if media.subtype.hasPrefix("*+"), media.subtype.utf8.count > 2 {
            subtype = .suffix(String(media.subtype.dropFirst(2)))
        } else if media.subtype.contains("*") {
            return nil
        } else {
            subtype = .exactly(media.subtype)
        }
    }

    /// Creates the range. A literal that is not a media range terminates the program.
    public init(stringLiteral text: String) {
        guard let range = MediaRange(text) else { fatalError("\"\(text)\" is not a media range such as \"image/*\"") }
        self = range
    }

    /// Returns whether the media type belongs to the range.
    public func contains(_ media: MediaType) -> Bool {
        if let type, type != media.type { return false }
        return switch subtype {
        case .all: true
        case .suffix(let suffix): media.subtype == suffix || media.subtype.hasSuffix("+\(suffix)")
        case .exactly(let subtype): media.subtype == subtype
        }
    }

    /// The text of the range, for example `image/*`.
    public var description: String {
        let subtype =
            switch self.subtype {
            case .all: "*"
            case .suffix(let suffix): "*+\(suffix)"
            case .exactly(let subtype): subtype
            }
        return "\(type ?? "*")/\(subtype)"
    }

    /// The range as the field Accept writes it, or nil for a range with a suffix, which Accept does not support.
    package var acceptable: String? {
        if case .suffix = subtype { nil } else { description }
    }
}
