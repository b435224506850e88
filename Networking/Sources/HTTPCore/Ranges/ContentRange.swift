/// The field Content-Range (RFC 9110, section 14.4) for the unit bytes.
package enum ContentRange: Hashable, Sendable {
    /// A range of bytes, and the total number of bytes, or nil if the server does not know the total.
    case bytes(ClosedRange<Int64>, total: Int64?)
    /// The requested range is not available. `total` is the number of available bytes. RFC 9110 does not allow an
    /// unknown total, but some servers send it.
    case unsatisfied(total: Int64?)

    /// Returns nil if the text is invalid, has another unit, contradicts itself, or contains a number above 63 bits.
    package init?(_ value: String) {
        var scanner = FieldScanner(value)
        scanner.skipSpace()
        guard scanner.token()?.lowercased() == "bytes" else { return nil }
        scanner.skipSpace()
        var range: ClosedRange<Int64>?
        if !scanner.take("*") {
            guard let first = scanner.digits().flatMap({ Int64($0) }), scanner.take("-"),
                let last = scanner.digits().flatMap({ Int64($0) }), first <= last, last < .max
            else { return nil }
            range = first...last
        }
        guard scanner.take("/") else { return nil }
        var total: Int64?
        if !scanner.take("*") {
            guard let number = scanner.digits().flatMap({ Int64($0) }) else { return nil }
            total = number
        }
        scanner.skipSpace()
        guard scanner.isAtEnd else { return nil }
        if let range, let total, range.upperBound >= total { return nil }
        self = range.map { .bytes($0, total: total) } ?? .unsatisfied(total: total)
    }
}
