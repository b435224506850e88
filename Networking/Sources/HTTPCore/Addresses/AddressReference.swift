/// A URL or a relative reference, split into its components without further parsing (RFC 3986, appendix B).
struct AddressReference {
    /// The scheme in lower case.
    private(set) var scheme: String?
    private(set) var authority: Substring?
    private(set) var path: Substring
    private(set) var query: Substring?
    private(set) var fragment: Substring?

    /// Returns nil if the text contains control characters. The parser percent-encodes each byte above ASCII, in any
    /// encoding.
    init?(_ bytes: some Sequence<UInt8>) {
        var trimmed = Array(bytes)[...]
        while trimmed.first == UInt8(ascii: " ") { trimmed.removeFirst() }
        while trimmed.last == UInt8(ascii: " ") { trimmed.removeLast() }
        guard !trimmed.contains(where: { $0.isControl }) else { return nil }
        var rest = PercentEncoding.encode(trimmed, keepsEncoded: true) { $0 < 0x80 }[...]
        // The rest is ASCII. A search in bytes is much faster than a search in characters.
        if let hash = rest.utf8.firstIndex(of: UInt8(ascii: "#")) {
            fragment = rest[hash...].dropFirst()
            rest = rest[..<hash]
        }
        if let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?")) {
            query = rest[mark...].dropFirst()
            rest = rest[..<mark]
        }
        if let colon = rest.utf8.firstIndex(of: UInt8(ascii: ":")), let first = rest.utf8.first, first.isASCIILetter,
            rest[..<colon].utf8.allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit || "+-.".utf8.contains($0) })
        {
            scheme = rest[..<colon].lowercased()
            rest = rest[colon...].dropFirst()
        }
        if rest.utf8.starts(with: "//".utf8) {
            rest = rest[rest.utf8.index(rest.startIndex, offsetBy: 2)...]
            let end = rest.utf8.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = rest[..<end]
            rest = rest[end...]
        }
        path = rest
    }

    /// Returns the path without the segments `.` and `..`, encoded or not (RFC 3986, section 5.2.4). The result begins
    /// with a slash.
    static func withoutDotSegments(_ path: String) -> String {
        if !mayHaveDotSegments(path.utf8) { return path }
        var segments: [Substring] = []
        let all = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst(path.first == "/" ? 1 : 0)
        for (index, segment) in zip(all.indices, all) {
            let isLast = index == all.endIndex - 1
            switch segment.utf8.count <= 6 ? segment.lowercased().replacing("%2e", with: ".") : "" {
            case ".": if isLast { segments.append("") }
            case "..":
                _ = segments.popLast()
                if isLast { segments.append("") }
            default: segments.append(segment)
            }
        }
        return "/" + segments.joined(separator: "/")
    }

    /// Returns false for nearly all paths, which then remain unchanged.
    private static func mayHaveDotSegments(_ path: String.UTF8View) -> Bool {
        guard path.first == UInt8(ascii: "/") else { return true }
        var isAtBegin = false
        for byte in path {
            if isAtBegin, byte == UInt8(ascii: ".") || byte == UInt8(ascii: "%") { return true }
            isAtBegin = byte == UInt8(ascii: "/")
        }
        return false
    }
}

/// The part of a URL between `//` and the path.
struct Authority {
    var user: String?
    var password: String?
    /// The host in lower case. An IPv6 address is in brackets.
    var host: String
    var port: Int?
}

extension Authority {
    init?(_ text: Substring) {
        guard !text.utf8.contains(UInt8(ascii: "\\")) else { return nil }
        let hasUser = text.utf8.contains(UInt8(ascii: "@"))
        let parts = hasUser ? text.split(separator: "@", omittingEmptySubsequences: false) : [text]
        guard parts.count <= 2, let place = parts.last else { return nil }
        var (user, password): (String?, String?)
        if parts.count == 2, !parts[0].isEmpty {
            let pieces = parts[0].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let decoded = String(validating: PercentEncoding.decode(pieces[0]), as: UTF8.self) else { return nil }
            user = decoded
            if pieces.count == 2 {
                guard let decoded = String(validating: PercentEncoding.decode(pieces[1]), as: UTF8.self) else {
                    return nil
                }
                password = decoded
            }
        }
        let end = place.utf8.first == UInt8(ascii: "[") ? place.utf8.firstIndex(of: UInt8(ascii: "]")) : nil
        let colon = place[(end ?? place.startIndex)...].utf8.firstIndex(of: UInt8(ascii: ":"))
        guard let host = Self.host(place[..<(colon ?? place.endIndex)]) else { return nil }
        var port: Int?
        if let digits = colon.map({ place[$0...].dropFirst() }), !digits.isEmpty {
            guard digits.utf8.allSatisfy(\.isASCIIDigit), let number = UInt16(digits), number > 0 else { return nil }
            port = Int(number)
        }
        self.init(user: user, password: password, host: host, port: port)
    }

    private static func host(_ text: Substring) -> String? {
        if text.utf8.first == UInt8(ascii: "[") {
            guard text.utf8.last == UInt8(ascii: "]") else { return nil }
            return IPv6Address(text.dropFirst().dropLast()).map { "[\($0)]" }
        }
        let name = text.lowercased()
        guard name.utf8.count <= 254, name.utf8.allSatisfy({ $0.isUnreserved && $0 != UInt8(ascii: "~") })
        else { return nil }
        var (rest, last) = (name.utf8[...], name.utf8[...])
        repeat {
            last = rest.prefix { $0 != UInt8(ascii: ".") }
            guard (1...63).contains(last.count) else { return nil }
            rest = rest[last.endIndex...].dropFirst()
            // One dot at the end of the host is valid.
        } while !rest.isEmpty
        // Resolvers accept `0x7f.1` and `2130706433` as IPv4 addresses. The parser therefore accepts a host that ends
        // in a number only if the host is an IPv4 address with four decimal numbers.
        if last.allSatisfy(\.isASCIIDigit)
            || (last.starts(with: "0x".utf8) && last.dropFirst(2).allSatisfy { $0.hexValue != nil })
        {
            guard name.utf8.last != UInt8(ascii: "."), IPv6Address.isDottedQuad(name) else { return nil }
        }
        return name
    }
}
