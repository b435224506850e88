public import Foundation
public import HTTPCore
import Operations

extension HTTPOperation {
    /// The received bytes of the response body, including those of earlier attempts.
    public final var downloadProgress: TransferProgress { transferProgress.download }

    /// The bytes of the request body that were handed to the connection.
    ///
    /// A challenge, a redirect, a retry or a pause can send the body again from its beginning. The progress counts each byte of
    /// the body once, so it waits during the repetition. ``HTTPMetrics/sent`` counts all sent bytes.
    public final var uploadProgress: TransferProgress { transferProgress.upload }

    /// Returns the current ``downloadProgress``, and then each significant change.
    ///
    /// The last element is complete if the body is complete. A slow consumer receives one element in place of several. The
    /// sequence ends with the operation.
    ///
    /// - Parameters:
    ///   - minimumStep: The smallest change to report, as a fraction of the whole from 0 to 1.
    ///   - minimumBytes: The smallest change to report, in bytes, while the total is unknown.
    public final func downloadProgressUpdates(
        minimumStep: Double = 0, minimumBytes: Int64 = 0
    ) -> some AsyncSequence<TransferProgress, Never> & Sendable {
        updates(.init(minimumStep: minimumStep, minimumBytes: minimumBytes)) { $0.download }
    }

    /// Returns the current ``uploadProgress``, and then each significant change. The parameters are those of
    /// ``downloadProgressUpdates(minimumStep:minimumBytes:)``.
    public final func uploadProgressUpdates(
        minimumStep: Double = 0, minimumBytes: Int64 = 0
    ) -> some AsyncSequence<TransferProgress, Never> & Sendable {
        updates(.init(minimumStep: minimumStep, minimumBytes: minimumBytes)) { $0.upload }
    }

    private func updates(
        _ filter: ProgressFilter, _ direction: @escaping Direction
    ) -> FilteredProgress {
        FilteredProgress(updates: transferProgressUpdates, filter: filter, direction: direction)
    }

    /// Returns a new `Progress` that counts the received bytes. The progress is indeterminate while the total is unknown.
    ///
    /// Cancelling the progress cancels the operation. Pausing or resuming the progress pauses or resumes the operation. Use the
    /// progress for display, or add it to another progress. The progress changes on the thread on which bytes arrive.
    public final func makeDownloadProgress() -> Progress { makeProgress { $0.download } }

    /// Returns a new `Progress` that counts the sent bytes, like ``makeDownloadProgress()``.
    public final func makeUploadProgress() -> Progress { makeProgress { $0.upload } }

    private func makeProgress(_ direction: @escaping Direction) -> Progress {
        // `Progress()` without `parent: nil` would become a child of the caller's current progress.
        let progress = Progress(parent: nil, userInfo: nil)
        progress.kind = .file
        progress.isCancellable = true
        progress.isPausable = true
        progress.cancellationHandler = { [weak self] in self?.cancel() }
        progress.pausingHandler = { [weak self] in self?.pause() }
        progress.resumingHandler = { [weak self] in self?.resume() }
        whenProgress { [weak progress] now in
            guard let progress else { return }
            let now = direction(now)
            let total = now.totalBytes ?? -1
            if progress.totalUnitCount != total { progress.totalUnitCount = total }
            if progress.completedUnitCount != now.completedBytes { progress.completedUnitCount = now.completedBytes }
        }
        return progress
    }

    /// Calls the listener with the current progress and with each change, one call at a time, on the thread that delivers.
    package final func whenProgress(_ listener: @escaping @Sendable (HTTPProgress) -> Void) {
        transfer.progressBroadcast().latest({ transfer.currentProgress }, receive: listener)
    }

    /// The progress in both directions.
    package final var transferProgress: HTTPProgress { transfer.currentProgress }

    /// The current progress in both directions, and then each change.
    package final var transferProgressUpdates: AsyncStream<HTTPProgress> { transfer.progressUpdates() }
}

private typealias Direction = @Sendable (HTTPProgress) -> TransferProgress

/// The significant changes of the progress in one direction.
private struct FilteredProgress: AsyncSequence, Sendable {
    let updates: AsyncStream<HTTPProgress>
    let filter: ProgressFilter
    let direction: Direction

    func makeAsyncIterator() -> Iterator {
        Iterator(updates: updates.makeAsyncIterator(), filter: filter, direction: direction)
    }

    struct Iterator: AsyncIteratorProtocol {
        var updates: AsyncStream<HTTPProgress>.Iterator
        var filter: ProgressFilter
        let direction: Direction

        mutating func next() async -> TransferProgress? { await next(isolation: nil) }

        mutating func next(isolation actor: isolated (any Actor)?) async -> TransferProgress? {
            while let now = await updates.next(isolation: actor) {
                let progress = direction(now)
                if let report = filter.report(completed: progress.completedBytes, total: progress.totalBytes) {
                    return report
                }
            }
            return nil
        }
    }
}
