/// The progress of several transfers, such as a batch of requests or a list of images: by number and in bytes.
public struct BatchProgress: Hashable, Sendable {
    /// The number of members, such as requests.
    public let total: Int
    /// The number of members that have ended, with or without a value.
    public internal(set) var finished = 0
    /// The number of members that ended without a value because they failed or were cancelled.
    public internal(set) var failed = 0
    /// The received bytes of all bodies. Members that share a transfer each count its bytes.
    public internal(set) var completedBytes: Int64 = 0
    /// The final value of `completedBytes`, or nil while the length of a member is unknown. A member that has ended counts
    /// its received bytes instead of the announced length.
    public internal(set) var totalBytes: Int64?

    /// Creates the progress of a batch before its first event.
    public init(total: Int) {
        self.total = total
        totalBytes = total == 0 ? 0 : nil
    }

    /// The completed fraction from 0 to 1, in bytes if `totalBytes` is known, otherwise in members. The fraction of an
    /// empty batch is 1.
    public var fraction: Double {
        guard total > 0 else { return 1 }
        guard let totalBytes, totalBytes > 0 else { return Double(finished) / Double(total) }
        return min(max(Double(completedBytes) / Double(totalBytes), 0), 1)
    }

    /// Whether every member has ended.
    public var isComplete: Bool { finished == total }
}
