#if Networking
public import Foundation
public import HTTPCore
import Operations

extension AnyHTTPOperation {
    /// Reports of what is received: how much is new since the report before, how much there is, and how much there will be
    /// (rule R6). The first one tells what is there already; the last one that it is complete, if it is. Who takes them late
    /// gets one report for many. Ends with the operation.
    ///
    /// - Parameters:
    ///   - minimumStep: What has to be new to be reported, as a part of the whole from 0 to 1.
    ///   - minimumBytes: The same in bytes, as long as the whole is not known.
    public final func downloadReports(minimumStep: Double = 0, minimumBytes: Int64 = 0) -> TransferReports {
        reports(.init(minimumStep: minimumStep, minimumBytes: minimumBytes)) { ($0.received, $0.expected) }
    }

    /// The same of what is sent.
    public final func uploadReports(minimumStep: Double = 0, minimumBytes: Int64 = 0) -> TransferReports {
        reports(.init(minimumStep: minimumStep, minimumBytes: minimumBytes)) { ($0.sent, $0.toSend) }
    }

    private func reports(
        _ filter: ProgressFilter, _ part: @escaping @Sendable (HTTPProgress) -> (Int64, Int64?)
    ) -> TransferReports {
        TransferReports(updates: transfer.progressUpdates(), filter: filter, part: part)
    }

    /// What is received, in bytes, to be shown or to be added to another progress; it is indeterminate while nobody knows how
    /// much that will be. Cancelling it cancels the operation, pausing and resuming it pauses and resumes the operation.
    /// Each call makes another one; it changes on the thread on which bytes arrive.
    public final func makeDownloadProgress() -> Progress { progress { ($0.received, $0.expected) } }

    /// The same of what is sent.
    public final func makeUploadProgress() -> Progress { progress { ($0.sent, $0.toSend) } }

    private func progress(_ part: @escaping @Sendable (HTTPProgress) -> (Int64, Int64?)) -> Progress {
        // With a parent given: else it would become a child of the caller's current progress.
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

/// Reports of a transfer's progress, as they come (rule R6).
public struct TransferReports: AsyncSequence, Sendable {
    public typealias Element = TransferProgress

    let updates: AsyncStream<HTTPProgress>
    let filter: ProgressFilter
    let part: @Sendable (HTTPProgress) -> (total: Int64, expected: Int64?)

    public func makeAsyncIterator() -> Iterator {
        Iterator(updates: updates.makeAsyncIterator(), filter: filter, part: part)
    }

    public struct Iterator: AsyncIteratorProtocol {
        var updates: AsyncStream<HTTPProgress>.Iterator
        var filter: ProgressFilter
        let part: @Sendable (HTTPProgress) -> (total: Int64, expected: Int64?)

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
#endif
