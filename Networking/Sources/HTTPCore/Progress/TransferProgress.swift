/// The progress of a transfer, in bytes.
public struct TransferProgress: Hashable, Sendable {
    /// The bytes since the last report.
    public let new: Int64
    /// The bytes since the start, including the bytes of an earlier attempt.
    public let total: Int64
    /// The final number of bytes, or nil if the server has not announced a length.
    public let expected: Int64?

    /// Creates a report.
    public init(new: Int64, total: Int64, expected: Int64?) {
        self.new = new
        self.total = total
        self.expected = expected
    }

    /// The completed fraction from 0 to 1, or nil if `expected` is nil. The fraction of an empty transfer is 1.
    public var fraction: Double? {
        guard let expected, expected >= 0 else { return nil }
        return expected == 0 ? 1 : min(max(Double(total) / Double(expected), 0), 1)
    }

    /// Whether all expected bytes have arrived. The value is false if `expected` is nil.
    public var isComplete: Bool { expected.map { total >= $0 } ?? false }
}
