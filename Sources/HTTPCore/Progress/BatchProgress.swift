#if Networking
/// How far a batch of transfers is, by number and by bytes (rule N3).
public struct BatchProgress: Hashable, Sendable {
    /// How many members there are.
    public let total: Int
    /// How many have ended, well or not.
    public internal(set) var finished = 0
    /// How many of these ended without a value, because of a failure or because they were cancelled.
    public internal(set) var failed = 0
    /// Bytes of bodies that are there. Members that share a transfer each count its bytes.
    public internal(set) var received: Int64 = 0
    /// What `received` will be when all have ended; nil while the length of a member is not known. A member that has ended
    /// counts as much as has come of it, whatever was announced.
    public internal(set) var expected: Int64?

    /// Of a batch of which nothing is known yet.
    public init(total: Int) {
        self.total = total
        expected = total == 0 ? 0 : nil
    }

    /// From 0 to 1: of the bytes, if their number is known, else of the members. An empty batch is done.
    public var fraction: Double {
        guard total > 0 else { return 1 }
        guard let expected, expected > 0 else { return Double(finished) / Double(total) }
        return min(max(Double(received) / Double(expected), 0), 1)
    }

    /// Every member has ended.
    public var isComplete: Bool { finished == total }
}
#endif
