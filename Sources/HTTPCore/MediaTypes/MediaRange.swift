#if Networking
/// Types that are accepted: `image/png`, `image/*`, `*/*`, or all with a suffix: `*/*+json` takes in `application/ld+json`
/// and `application/json` itself.
public struct MediaRange: Hashable, Sendable, LosslessStringConvertible, ExpressibleByStringLiteral {
    /// In lower case; nil for all.
    private let type: String?
    private let subtype: Subtype

    private enum Subtype: Hashable, Sendable {
        case all
        case suffix(String)
        case exactly(String)
    }

    /// Nil if the text is none. Parameters do not count.
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

    /// Stops the program if the literal is none.
    public init(stringLiteral text: String) {
        guard let range = MediaRange(text) else { fatalError("\"\(text)\" is no media range; write \"image/*\"") }
        self = range
    }

    public func contains(_ media: MediaType) -> Bool {
        if let type, type != media.type { return false }
        return switch subtype {
        case .all: true
        case .suffix(let suffix): media.subtype == suffix || media.subtype.hasSuffix("+\(suffix)")
        case .exactly(let subtype): media.subtype == subtype
        }
    }

    public var description: String {
        let subtype =
            switch self.subtype {
            case .all: "*"
            case .suffix(let suffix): "*+\(suffix)"
            case .exactly(let subtype): subtype
            }
        return "\(type ?? "*")/\(subtype)"
    }

    /// As the field Accept understands it; nil for those with a suffix, which it does not know.
    package var acceptable: String? {
        if case .suffix = subtype { nil } else { description }
    }
}
#endif
