/// A filter that passes only significant reports of progress. The next report includes the bytes of the reports that
/// the filter dropped.
package struct ProgressFilter: Hashable, Sendable {
    /// The minimum step as a fraction from 0 to 1. With 0 the filter passes every report of new bytes.
    package let minimumStep: Double
    /// The minimum step in bytes, for transfers of unknown length.
    package let minimumBytes: Int64
    private var reported: TransferProgress?

    package init(minimumStep: Double = 0, minimumBytes: Int64 = 0) {
        self.minimumStep = minimumStep
        self.minimumBytes = minimumBytes
    }

    /// Returns a report of `completed` bytes, or nil if the report is not significant. The filter always passes the first
    /// report and the report that completes the transfer. The filter also passes every report after `completed` has
    /// decreased or `total` has changed.
    package mutating func report(completed: Int64, total: Int64?) -> TransferProgress? {
        guard let last = reported, completed >= last.completedBytes, total == last.totalBytes else {
            // After a restart from the first byte, all bytes are new.
            let before = reported.map { completed >= $0.completedBytes ? $0.completedBytes : 0 } ?? 0
            return pass(TransferProgress(newBytes: completed - before, completedBytes: completed, totalBytes: total))
        }
        let new = completed - last.completedBytes
        guard new > 0 else { return nil }
        let next = TransferProgress(newBytes: new, completedBytes: completed, totalBytes: total)
        if next.isComplete { return last.isComplete && minimumStep > 0 ? nil : pass(next) }
        if let fraction = next.fraction, let before = last.fraction {
            return fraction - before >= minimumStep ? pass(next) : nil
        }
        return new >= minimumBytes ? pass(next) : nil
    }

    private mutating func pass(_ progress: TransferProgress) -> TransferProgress {
        reported = progress
        return progress
    }
}
