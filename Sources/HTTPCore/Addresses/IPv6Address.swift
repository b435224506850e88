#if Networking
/// An IPv6 address as it stands between the brackets of a URL. Without zones, which mean nothing to others.
package struct IPv6Address: Hashable, Sendable, CustomStringConvertible {
    package let groups: [UInt16]

    package init?(_ text: some StringProtocol) {
        var (groups, gap): ([UInt16], Int?) = ([], nil)
        var pieces = text.split(separator: ":", omittingEmptySubsequences: false)[...]
        // A leading or trailing `::` leaves two empty pieces at that end.
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
                groups += [UInt16(bytes[0]) << 8 | UInt16(bytes[1]), UInt16(bytes[2]) << 8 | UInt16(bytes[3])]
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

    /// Four decimal numbers without leading zeros, which some would read as octal.
    package static func dottedQuad(_ text: some StringProtocol) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let bytes = parts.compactMap { part -> UInt8? in
            guard part.utf8.allSatisfy(\.isASCIIDigit), part == "0" || part.first != "0" else { return nil }
            return UInt8(part)
        }
        return parts.count == 4 && bytes.count == 4 ? bytes : nil
    }

    /// As RFC 5952 wants it: lower case, the longest run of zeros as `::`.
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
#endif
