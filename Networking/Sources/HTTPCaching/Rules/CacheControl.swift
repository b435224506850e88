import HTTPCore
package import HTTPTypes

/// The `Cache-Control` of a request or a response (RFC 9111 §5.2, RFC 5861, RFC 8246). The parser accepts every input
/// and skips unknown directives. The most cautious of several equal directives wins, and an invalid number has the most
/// cautious meaning.
package struct CacheControl: Equatable, Sendable {
    /// The arguments of the directives by their lowercase names, in order and without quotation marks. The argument is
    /// nil for a directive without one.
    private var directives: [String: [String?]] = [:]

    /// The greatest number of seconds. A greater number counts as this value (RFC 9111 §1.2.2).
    static let mostSeconds = 1 << 31

    package init() {}

    /// Parses the `Cache-Control` of a response.
    package init(ofResponse fields: HTTPFields) {
        for line in fields[values: .cacheControl] { parse(line) }
    }

    /// Parses the `Cache-Control` of a request. `Pragma: no-cache` applies if the request has no `Cache-Control`
    /// (§5.4).
    package init(ofRequest fields: HTTPFields) {
        self.init(ofResponse: fields)
        guard !fields.contains(.cacheControl), let pragma = HTTPField.Name("Pragma") else { return }
        var other = CacheControl()
        for line in fields[values: pragma] { other.parse(line) }
        if other.has("no-cache") { directives["no-cache"] = [nil] }
    }

    package func has(_ name: String) -> Bool { directives[name] != nil }

    /// Returns the first argument of the directive, or nil if the directive has no argument or is missing.
    package func argument(_ name: String) -> String? { directives[name]?.lazy.compactMap(\.self).first }

    package var noStore: Bool { has("no-store") }
    /// Whether the directive is present. A list of field names as argument makes no difference, as in most caches.
    package var noCache: Bool { has("no-cache") }
    /// The lowercase names of the fields in the argument of `no-cache`, which the cache must not store (§5.2.2.4).
    package var unreusedFields: Set<String> {
        let lists = directives["no-cache"]?.compactMap(\.self) ?? []
        // A quotation mark without a partner is a part of the argument.
        let names = lists.flatMap { $0.utf8.split { !$0.isTokenByte } }
        return Set(names.map { String(decoding: $0, as: UTF8.self).lowercased() })
    }
    package var mustRevalidate: Bool { has("must-revalidate") }
    package var mustUnderstand: Bool { has("must-understand") }
    package var isPublic: Bool { has("public") }
    package var isPrivate: Bool { has("private") }
    package var isImmutable: Bool { has("immutable") }
    package var onlyIfCached: Bool { has("only-if-cached") }
    /// The maximum age in seconds, or 0 if the number is invalid.
    package var maxAge: Int? { seconds("max-age", invalid: 0).min() }
    /// The required remaining lifetime in seconds, or the greatest number if the number is invalid.
    package var minFresh: Int? { seconds("min-fresh", invalid: Self.mostSeconds).max() }
    /// The accepted staleness in seconds. Without an argument every staleness is accepted.
    package var maxStale: Int? { seconds("max-stale", missing: .max, invalid: 0).min() }
    /// The time in seconds after the end of the lifetime, or 0 if the number is invalid.
    package var staleIfError: Int? { seconds("stale-if-error", invalid: 0).min() }
    /// The time in seconds after the end of the lifetime, or 0 if the number is invalid.
    package var staleWhileRevalidate: Int? { seconds("stale-while-revalidate", invalid: 0).min() }

    /// Returns the number of each occurrence of the directive.
    private func seconds(_ name: String, missing: Int? = nil, invalid: Int) -> [Int] {
        directives[name, default: []].map { argument in
            guard let argument else { return missing ?? invalid }
            return Self.deltaSeconds(argument) ?? invalid
        }
    }

    /// Returns a number that consists of digits only, limited to `mostSeconds`. Returns nil for other text.
    package static func deltaSeconds(_ text: some StringProtocol) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return text.utf8.reduce(0) { min($0 * 10 + Int($1 - 48), mostSeconds) }
    }

    // MARK: - Parsing

    private mutating func parse(_ line: String) {
        var scanner = FieldScanner(line)
        while !scanner.isAtEnd {
            let name = scanner.text(to: ",", "=").lowercased()
            let argument = scanner.take("=") ? Self.argument(&scanner) : nil
            if !name.isEmpty { directives[name, default: []].append(argument) }
            _ = scanner.take(",")
        }
    }

    /// Returns a quoted or unquoted argument. If the closing quotation mark is missing, the argument ends at the next
    /// comma, so that the parser finds later directives, such as `no-store`.
    private static func argument(_ scanner: inout FieldScanner) -> String {
        scanner.skipSpace()
        let quoted = scanner.quotedString()
        let rest = scanner.text(to: ",")
        return quoted ?? rest
    }
}
