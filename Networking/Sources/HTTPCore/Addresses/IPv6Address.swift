/// An IPv6 address as in the brackets of a URL, without a zone. A zone has a meaning on one host only.
package struct IPv6Address: Hashable, Sendable, CustomStringConvertible {
    package let groups: [UInt16]

    package init?(_ text: some StringProtocol) {
        var (groups, gap): ([UInt16], Int?) = ([], nil)
        var pieces = text.split(separator: ":", omittingEmptySubsequences: false)[...]
        // A `::` at the start or at the end leaves two empty pieces there.
        if pieces.count >= 3, pieces.first == "", pieces.dropFirst().first == "" {
            pieces = pieces.dropFirst()
        }
        if pieces.count >= 2, pieces.last == "", pieces.dropLast().last == "" { pieces = pieces.dropLast() }
        for (index, piece) in zip(pieces.indices, pieces) {
            if piece.isEmpty {
                guard gap == nil, text.contains("::") else { return nil }
                gap = groups.count
            } else if index == pieces.endIndex - 1, piece.contains(".") {
                guard let bytes = Self.dottedQuad(piece) else { return nil }
                groups += [UInt16(truncatingIfNeeded: bytes >> 16), UInt16(truncatingIfNeeded: bytes)]
            } else {
                guard piece.utf8.count <= 4, piece.utf8.allSatisfy({ $0.hexValue != nil }) else { return nil }
                groups.append(UInt16(piece, radix: 16)!)
            }
        }
        if let gap {
            guard groups.count < 8 else { return nil }
            groups.insert(contentsOf: repeatElement(0, count: 8 - groups.count), at: gap)
        }
        guard groups.count == 8 else { return nil }
        self.groups = groups
    }

    /// Parses four decimal numbers. Leading zeros are invalid, because some programs read such numbers as octal.
    package static func dottedQuad(_ text: some StringProtocol) -> UInt32? {
        var (value, rest, count) = (UInt32(0), text.utf8[...], 0)
        while true {
            let part = rest.prefix { $0 != UInt8(ascii: ".") }
            guard (1...3).contains(part.count), part.allSatisfy(\.isASCIIDigit),
                part.count == 1 || part.first != UInt8(ascii: "0"),
                let byte = UInt8(exactly: part.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) })
            else { return nil }
            value = value << 8 | UInt32(byte)
            count += 1
            rest = rest[part.endIndex...]
            guard rest.popFirst() != nil else { return count == 4 ? value : nil }
            if count == 4 { return nil }
        }
    }

    /// The text of RFC 5952: lower case, with `::` for the longest run of zeros.
    package var description: String {
        var (best, run) = (0..<0, 0..<0)
        for (index, group) in groups.enumerated() {
            run = group == 0 ? (run.isEmpty ? index : run.lowerBound)..<(index + 1) : 0..<0
            if run.count > best.count { best = run }
        }
        func written(_ part: some Sequence<UInt16>) -> String {
            part.map { String($0, radix: 16) }.joined(separator: ":")
        }
        guard best.count >= 2 else { return written(groups) }
        return written(groups[..<best.lowerBound]) + "::" + written(groups[best.upperBound...])
    }
}
