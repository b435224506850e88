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
        for (index, url) in urls.enumerated() {
            let handle = loader.load(url, options: options, priority: priority)
            // First, because an image in memory ends immediately.
            tally.begin(index, handle)
            handle.promise.whenEnded { tally.ended(index, $0) }
        }
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
    public func cancel() { for handle in tally.remaining { handle.cancel() } }

    /// Sets the priority of the images that have not arrived yet.
    public func setPriority(_ priority: Operation.QueuePriority) {
        for handle in tally.remaining { handle.priority = priority }
    }
}

extension ImagePrefetcher {
    /// The progress of a prefetcher, the streams that receive it, and the requests that have not ended.
    private final class Tally: Sendable {
        private struct State {
            var tally: BatchTally
            /// The handle of an ended request would keep its image.
            var handles: [ImageRequestHandle?]
        }

        private let state: Locked<State>
        private let subscribers = Broadcast<BatchProgress>()

        init(total: Int) {
            let tally = BatchTally(count: total, stopsAtFailure: false)
            state = Locked(State(tally: tally, handles: Array(repeating: nil, count: total)))
            if progress.isComplete { subscribers.finish() }
        }

        var progress: BatchProgress { state.withLock { $0.tally.progress } }
        var progressUpdates: AsyncStream<BatchProgress> { subscribers.latest { progress } }
        var remaining: [ImageRequestHandle] { state.withLock { $0.handles.compactMap { $0 } } }

        func begin(_ index: Int, _ handle: ImageRequestHandle) { state.withLock { $0.handles[index] = handle } }

        func ended(_ index: Int, _ outcome: ImagePromise.Outcome) {
            let (isComplete, handle) = state.withLock { state -> (Bool, ImageRequestHandle?) in
                let ending: BatchTally.Ending = if case .failure = outcome { .failed } else { .succeeded }
                _ = state.tally.ended(index, received: 0, ending)
                defer { state.handles[index] = nil }
                return (state.tally.progress.isComplete, state.handles[index])
            }
            withExtendedLifetime(handle) {}
            subscribers.sendLatest { progress }
            if isComplete { subscribers.finish() }
        }
    }
}
