#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// An IPv6 address as in the brackets of a URL, without a zone. A zone has a meaning on one host only.
package struct IPv6Address: Hashable, Sendable, CustomStringConvertible {
    package let groups: [UInt16]

    package init?(_ text: some StringProtocol) {
        guard let bytes = Self.bytes(text, AF_INET6, count: 16) else { return nil }
        groups = stride(from: 0, to: 16, by: 2).map { UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
    }

    /// Whether the text is four decimal numbers. Leading zeros are invalid, because some programs read such numbers as
    /// octal.
    package static func isDottedQuad(_ text: some StringProtocol) -> Bool { bytes(text, AF_INET, count: 4) != nil }

    private static func bytes(_ text: some StringProtocol, _ family: Int32, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        // The C function reads the text up to the first zero byte.
        return !text.utf8.contains(0) && inet_pton(family, String(text), &bytes) == 1 ? bytes : nil
    }

    /// The text of RFC 5952: lower case, with `::` for the longest run of zeros.
    ///
    /// Not `inet_ntop`: glibc writes the last groups of some addresses as four decimal numbers.
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
