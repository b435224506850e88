#if Networking
package import HTTPTypes

/// The `Cache-Control` of a request or a response (RFC 9111 §5.2, RFC 5861, RFC 8246). The parser is total: what it does
/// not understand it passes over, of what stands twice the first counts, and broken numbers mean the most cautious.
package struct CacheControl: Equatable, Sendable {
    /// By name in lower case; the argument without quotes, nil if there was none.
    private var directives: [String: String?] = [:]

    /// `RFC 9111 §1.2.2`: what does not fit counts as this.
    static let mostSeconds = 1 << 31

    package init() {}

    package init(ofResponse fields: HTTPFields) {
        for line in fields[values: .cacheControl] { parse(line) }
    }

    /// `Pragma: no-cache` counts where there is no `Cache-Control` (§5.4).
    package init(ofRequest fields: HTTPFields) {
        self.init(ofResponse: fields)
        guard !fields.contains(.cacheControl), let pragma = HTTPField.Name("Pragma") else { return }
        var other = CacheControl()
        for line in fields[values: pragma] { other.parse(line) }
        if other.has("no-cache") { directives["no-cache"] = .some(nil) }
    }

    package func has(_ name: String) -> Bool { directives[name] != nil }

    /// The argument, if there is the directive and it has one.
    package func argument(_ name: String) -> String? { directives[name] ?? nil }

    package var noStore: Bool { has("no-store") }
    /// With field names as argument too, as most caches take it.
    package var noCache: Bool { has("no-cache") }
    package var mustRevalidate: Bool { has("must-revalidate") }
    package var mustUnderstand: Bool { has("must-understand") }
    package var isPublic: Bool { has("public") }
    package var isPrivate: Bool { has("private") }
    package var isImmutable: Bool { has("immutable") }
    package var onlyIfCached: Bool { has("only-if-cached") }
    /// In seconds; 0 if broken.
    package var maxAge: Int? { seconds("max-age", broken: 0) }
    /// In seconds; as long as can be if broken.
    package var minFresh: Int? { seconds("min-fresh", broken: Self.mostSeconds) }
    /// In seconds; without a number, any.
    package var maxStale: Int? {
        if case .some(.none) = directives["max-stale"] { return .max }
        return seconds("max-stale", broken: 0)
    }
    /// In seconds; 0 if broken.
    package var staleIfError: Int? { seconds("stale-if-error", broken: 0) }

    private func seconds(_ name: String, broken: Int) -> Int? {
        guard let argument = directives[name] else { return nil }
        return argument.flatMap { Self.deltaSeconds($0) } ?? broken
    }

    /// Digits only, at most `mostSeconds`; nil for anything else.
    package static func deltaSeconds(_ text: some StringProtocol) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return text.utf8.reduce(0) { min($0 * 10 + Int($1 - 48), mostSeconds) }
    }

    // MARK: - Parsing

    private mutating func parse(_ line: String) {
        var rest = Array(line.utf8)[...]
        while !rest.isEmpty {
            let name = take(&rest) { $0 != Self.comma && $0 != Self.equals }
            var argument: String?
            if rest.first == Self.equals {
                rest.removeFirst()
                argument = takeArgument(&rest)
            }
            if rest.first == Self.comma { rest.removeFirst() }
            let key = name.lowercased()
            if !key.isEmpty, directives[key] == nil { directives[key] = .some(argument) }
        }
    }

    private func takeArgument(_ rest: inout ArraySlice<UInt8>) -> String {
        rest = rest.drop(while: Self.isSpace)
        if rest.first == Self.quote, let quoted = takeQuoted(&rest) {
            _ = take(&rest) { $0 != Self.comma }
            return quoted
        }
        return take(&rest) { $0 != Self.comma }
    }

    /// Nil, and nothing taken, if the closing quote is missing: what follows, perhaps `no-store`, still counts then.
    private func takeQuoted(_ rest: inout ArraySlice<UInt8>) -> String? {
        var (text, index) = ([UInt8](), rest.startIndex + 1)
        while index < rest.endIndex {
            switch rest[index] {
            case Self.quote:
                rest = rest[(index + 1)...]
                return String(decoding: text, as: UTF8.self)
            case Self.backslash where index + 1 < rest.endIndex:
                text.append(rest[index + 1])
                index += 2
            case let byte:
                text.append(byte)
                index += 1
            }
        }
        return nil
    }

    private func take(_ rest: inout ArraySlice<UInt8>, while isPart: (UInt8) -> Bool) -> String {
        var taken = rest.prefix(while: isPart)
        rest = rest[taken.endIndex...]
        taken = taken.drop(while: Self.isSpace)
        while let last = taken.last, Self.isSpace(last) { taken.removeLast() }
        return String(decoding: taken, as: UTF8.self)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 }
    private static let (comma, equals) = (UInt8(ascii: ","), UInt8(ascii: "="))
    private static let (quote, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
}
#endif
