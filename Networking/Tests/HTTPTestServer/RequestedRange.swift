/// The range that a `Range` field requests.
enum RequestedRange: Equatable {
    /// No supported range, so that the server sends the complete body. The case includes several ranges, which RFC 9110
    /// (section 14.2) allows a server to ignore.
    case none
    /// A range outside of the body.
    case unsatisfiable
    case part(Range<Int64>)

    init(_ field: String, of length: Int64) {
        self = .none
        let parts = field.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, parts[0].trimmed.lowercased() == "bytes" else { return }
        let bounds = parts[1].trimmed.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard bounds.count == 2, bounds.allSatisfy({ $0.utf8.allSatisfy { 48...57 ~= $0 } }) else { return }
        switch (Int64(bounds[0]), Int64(bounds[1])) {
        case (let first?, let last?):
            guard first <= last else { return }
            self = first < length ? .part(first..<min(last, length - 1) + 1) : .unsatisfiable
        case (let first?, nil) where bounds[1].isEmpty:
            self = first < length ? .part(first..<length) : .unsatisfiable
        case (nil, let suffix?) where bounds[0].isEmpty:
            self = suffix > 0 && length > 0 ? .part(max(0, length - suffix)..<length) : .unsatisfiable
        default: return
        }
    }
}
