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

    /// Returns a report of `total` bytes, or nil if the report is not significant. The filter always passes the first
    /// report and the report that completes the transfer. The filter also passes every report after `total` has
    /// decreased or `expected` has changed.
    package mutating func report(total: Int64, expected: Int64?) -> TransferProgress? {
        guard let last = reported, total >= last.total, expected == last.expected else {
            // After a restart from the first byte, all bytes are new.
            let before = reported.map { total >= $0.total ? $0.total : 0 } ?? 0
            return pass(TransferProgress(new: total - before, total: total, expected: expected))
        }
        let next = TransferProgress(new: total - last.total, total: total, expected: expected)
        guard next.new > 0 else { return nil }
        if next.isComplete { return last.isComplete && minimumStep > 0 ? nil : pass(next) }
        if let fraction = next.fraction, let before = last.fraction {
            return fraction - before >= minimumStep ? pass(next) : nil
        }
        return next.new >= minimumBytes ? pass(next) : nil
    }

    /// Returns the last report of a transfer whose length was unknown, or nil if the last report was already complete.
    package mutating func finish(total: Int64) -> TransferProgress? {
        if let reported, reported.total == total, reported.expected == total { return nil }
        return pass(TransferProgress(new: total - (reported?.total ?? 0), total: total, expected: total))
    }

    private mutating func pass(_ progress: TransferProgress) -> TransferProgress {
        reported = progress
        return progress
    }
}
