public import Foundation
public import HTTPCore
import Operations

extension HTTPOperation {
    /// Returns reports of received body bytes: the bytes since the previous report, the bytes so far, and the expected total.
    ///
    /// The first report states the bytes that are already present. The last report is complete if the body is complete. A slow
    /// consumer receives one report in place of several. The sequence ends with the operation.
    ///
    /// - Parameters:
    ///   - minimumStep: The smallest progress to report, as a fraction of the whole from 0 to 1.
    ///   - minimumBytes: The smallest progress to report, in bytes, while the total is unknown.
    public final func downloadReports(minimumStep: Double = 0, minimumBytes: Int64 = 0) -> TransferReports {
        reports(.init(minimumStep: minimumStep, minimumBytes: minimumBytes)) { ($0.received, $0.expected) }
    }

    /// Returns reports of sent body bytes. The parameters are those of ``downloadReports(minimumStep:minimumBytes:)``.
    public final func uploadReports(minimumStep: Double = 0, minimumBytes: Int64 = 0) -> TransferReports {
        reports(.init(minimumStep: minimumStep, minimumBytes: minimumBytes)) { ($0.sent, $0.toSend) }
    }

    private func reports(
        _ filter: ProgressFilter, _ part: @escaping @Sendable (HTTPProgress) -> (Int64, Int64?)
    ) -> TransferReports {
        TransferReports(updates: transfer.progressUpdates(), filter: filter, part: part)
    }

    /// Returns a new `Progress` that counts the received bytes. The progress is indeterminate while the total is unknown.
    ///
    /// Cancelling the progress cancels the operation. Pausing or resuming the progress pauses or resumes the operation. Use the
    /// progress for display, or add it to another progress. The progress changes on the thread on which bytes arrive.
    public final func makeDownloadProgress() -> Progress { progress { ($0.received, $0.expected) } }

    /// Returns a new `Progress` that counts the sent bytes, like ``makeDownloadProgress()``.
    public final func makeUploadProgress() -> Progress { progress { ($0.sent, $0.toSend) } }

    private func progress(_ part: @escaping @Sendable (HTTPProgress) -> (Int64, Int64?)) -> Progress {
        // `Progress()` without `parent: nil` would become a child of the caller's current progress.
        let progress = Progress(parent: nil, userInfo: nil)
        progress.kind = .file
        progress.isCancellable = true
        progress.isPausable = true
        progress.cancellationHandler = { [weak self] in self?.cancel() }
        progress.pausingHandler = { [weak self] in self?.pause() }
        progress.resumingHandler = { [weak self] in self?.resume() }
        transfer.madeFollowers().latest({ transfer.currentProgress }) { [weak progress] now in
            guard let progress else { return }
            let (done, expected) = part(now)
            let total = expected ?? -1
            if progress.totalUnitCount != total { progress.totalUnitCount = total }
            if progress.completedUnitCount != done { progress.completedUnitCount = done }
        }
        return progress
    }
}

/// A sequence of reports of the progress of a transfer.
public struct TransferReports: AsyncSequence, Sendable {
    public typealias Element = TransferProgress

    let updates: AsyncStream<HTTPProgress>
    let filter: ProgressFilter
    let part: @Sendable (HTTPProgress) -> (total: Int64, expected: Int64?)

    public func makeAsyncIterator() -> Iterator {
        Iterator(updates: updates.makeAsyncIterator(), filter: filter, part: part)
    }

    /// The iterator of the reports.
    public struct Iterator: AsyncIteratorProtocol {
        var updates: AsyncStream<HTTPProgress>.Iterator
        var filter: ProgressFilter
        let part: @Sendable (HTTPProgress) -> (total: Int64, expected: Int64?)

        /// Returns the next report; nil after the operation has ended.
        @concurrent
        public mutating func next() async -> TransferProgress? {
            while let now = await updates.next() {
                let (total, expected) = part(now)
                if let report = filter.report(total: total, expected: expected) { return report }
            }
            return nil
        }
    }
}
