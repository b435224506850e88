public import HTTPCore
public import Operations
import OperationsNetworking

/// A prefetcher that loads a list of images with a low priority. A request for one of these images shares the transfer,
/// which then gets the priority of the request.
///
/// ```swift
/// let prefetcher = ImagePrefetcher(urls, with: loader)
/// for await progress in prefetcher.progressUpdates { print(progress.finished, "of", progress.total) }
/// ```
///
/// A deallocated prefetcher continues to load. Prefetchers are independent, so that the cancellation of one does not
/// affect the others.
public final class ImagePrefetcher: Sendable {
    private let tally: Tally
    private let handles: [ImageRequestHandle]

    /// Starts to load the images immediately. An empty list is complete immediately.
    ///
    /// - Parameters:
    ///   - urls: The addresses in the order of their requests. Repeated addresses count several times.
    ///   - loader: The loader of the images.
    ///   - options: The options of the later requests. If the later requests use another decoding, the prefetcher
    ///     provides only the originals.
    ///   - priority: The initial priority, which `setPriority(_:)` can change.
    public init(
        _ urls: [String], with loader: ImageLoader, options: ImageLoadOptions = ImageLoadOptions(),
        priority: Operation.QueuePriority = .low
    ) {
        let tally = Tally(total: urls.count)
        self.tally = tally
        handles = urls.map { loader.load($0, options: options, priority: priority) }
        for (index, handle) in handles.enumerated() { handle.promise.whenEnded { tally.ended(index, $0) } }
    }

    /// The progress by number of images. Images that failed or were cancelled count as failed. The bytes are not counted.
    public var progress: BatchProgress { tally.progress }

    /// A stream of the progress after each change. If the reader is slow, newer values replace older values. The stream
    /// ends with the last image.
    public var progressUpdates: AsyncStream<BatchProgress> { tally.progressUpdates }

    /// Suspends until all images have ended, or until the task is cancelled. Returns the progress at that time.
    @discardableResult
    public func waitUntilFinished() async -> BatchProgress {
        for await _ in progressUpdates {}
        return progress
    }

    /// Cancels the images that have not arrived yet.
    public func cancel() { for handle in handles { handle.cancel() } }

    /// Sets the priority of the images that have not arrived yet.
    public func setPriority(_ priority: Operation.QueuePriority) {
        for handle in handles where handle.result == nil { handle.priority = priority }
    }
}

extension ImagePrefetcher {
    /// The progress of a prefetcher, and the streams that receive it.
    private final class Tally: Sendable {
        private let state: Locked<BatchTally>
        private let subscribers = Broadcast<BatchProgress>()

        init(total: Int) {
            state = Locked(BatchTally(count: total, stopsAtFailure: false))
            if progress.isComplete { subscribers.finish() }
        }

        var progress: BatchProgress { state.withLock { $0.progress } }
        var progressUpdates: AsyncStream<BatchProgress> { subscribers.latest { progress } }

        func ended(_ index: Int, _ outcome: ImagePromise.Outcome) {
            let isComplete = state.withLock { tally in
                let ending: BatchTally.Ending = if case .failure = outcome { .failed } else { .succeeded }
                _ = tally.ended(index, received: 0, ending)
                return tally.progress.isComplete
            }
            subscribers.sendLatest { progress }
            if isComplete { subscribers.finish() }
        }
    }
}
