/// The progress of a transfer in one direction, in bytes.
public struct TransferProgress: Hashable, Sendable {
    /// The bytes since the previous element of a sequence. In a value that is read by itself: all bytes so far.
    public let newBytes: Int64
    /// The bytes so far, including the bytes of earlier attempts.
    public let completedBytes: Int64
    /// The final number of bytes, or nil if it is unknown.
    public let totalBytes: Int64?

    /// Creates a progress. The default of `newBytes` is `completedBytes`.
    public init(newBytes: Int64? = nil, completedBytes: Int64, totalBytes: Int64?) {
        self.newBytes = newBytes ?? completedBytes
        self.completedBytes = completedBytes
        self.totalBytes = totalBytes
    }

    /// The completed fraction from 0 to 1, or nil if `totalBytes` is nil. The fraction of an empty transfer is 1.
    public var fraction: Double? {
        guard let totalBytes, totalBytes >= 0 else { return nil }
        return totalBytes == 0 ? 1 : min(max(Double(completedBytes) / Double(totalBytes), 0), 1)
    }

    /// Whether all bytes have been transferred. The value is false if `totalBytes` is nil.
    public var isComplete: Bool { totalBytes.map { completedBytes >= $0 } ?? false }
}
