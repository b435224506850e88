#if Networking
/// Lets reports of progress through that are worth it (rules R6 and I2). What is held back is added to the next one.
package struct ProgressFilter: Hashable, Sendable {
    /// A part of the whole, from 0 to 1; 0 lets everything through that is new.
    package let minimumStep: Double
    /// The same in bytes, where the whole is not known.
    package let minimumBytes: Int64
    private var reported: TransferProgress?

    package init(minimumStep: Double = 0, minimumBytes: Int64 = 0) {
        self.minimumStep = minimumStep
        self.minimumBytes = minimumBytes
    }

    /// A report that there are so many bytes now; nil if it is not worth it. The first one, the one that completes, and one
    /// after the number or the expectation has gone another way, always are.
    package mutating func report(total: Int64, expected: Int64?) -> TransferProgress? {
        guard let last = reported, total >= last.total, expected == last.expected else {
            // After starting over all that is there is new.
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

    /// What is left at the end of a transfer whose length nobody knew; nil if everything has been reported.
    package mutating func finish(total: Int64) -> TransferProgress? {
        if let reported, reported.total == total, reported.expected == total { return nil }
        return pass(TransferProgress(new: total - (reported?.total ?? 0), total: total, expected: total))
    }

    private mutating func pass(_ progress: TransferProgress) -> TransferProgress {
        reported = progress
        return progress
    }
}
#endif
