#if Networking
/// How far a transfer is, in bytes (rule R6).
public struct TransferProgress: Hashable, Sendable {
    /// Since the last report.
    public let new: Int64
    /// Since the start, with what an earlier try has brought.
    public let total: Int64
    /// In the end; nil if nobody has said.
    public let expected: Int64?

    public init(new: Int64, total: Int64, expected: Int64?) {
        self.new = new
        self.total = total
        self.expected = expected
    }

    /// From 0 to 1; nil if the end is not known. An empty transfer is done.
    public var fraction: Double? {
        guard let expected, expected >= 0 else { return nil }
        return expected == 0 ? 1 : min(max(Double(total) / Double(expected), 0), 1)
    }

    public var isComplete: Bool { expected.map { total >= $0 } ?? false }
}
#endif
