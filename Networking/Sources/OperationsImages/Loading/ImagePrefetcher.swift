import HTTPCore
public import Operations
import OperationsNetworking

/// A prefetcher that loads a list of images with a low priority. A request for one of these images shares the transfer,
/// which then gets the priority of the request.
///
/// ```swift
/// let prefetcher = ImagePrefetcher(urls, with: loader)
/// for await counts in prefetcher.progress { print(counts.finished, "of", counts.total) }
/// ```
///
/// A deallocated prefetcher continues to load. Prefetchers are independent, so that the cancellation of one does not
/// affect the others.
public final class ImagePrefetcher: Sendable {
    /// The progress of a prefetcher in images.
    public struct Counts: Hashable, Sendable {
        /// The number of images that have ended, with or without a failure.
        public internal(set) var finished = 0
        /// The number of images that failed or were cancelled.
        public internal(set) var skipped = 0
        /// The number of images in the list.
        public let total: Int

        /// Whether all images have ended.
        public var isComplete: Bool { finished >= total }
    }

    private let tally: Tally
    private let tokens: [ImageRequestHandle]

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
        tokens = urls.map { loader.load($0, options: options, priority: priority) }
        for token in tokens { token.whenOver { tally.add($0) } }
    }

    /// The current progress.
    public var counts: Counts { tally.counts }

    /// A stream of the progress after each change. If the reader is slow, newer values replace older values. The stream
    /// ends with the last image.
    public var progress: AsyncStream<Counts> { tally.progress }

    /// Suspends until all images have ended, or until the task is cancelled. Returns the progress at that time.
    @discardableResult
    public func waitUntilFinished() async -> Counts {
        for await _ in progress {}
        return counts
    }

    /// Cancels the images that have not arrived yet.
    public func cancel() { for token in tokens { token.cancel() } }

    /// Sets the priority of the images that have not arrived yet.
    public func setPriority(_ priority: Operation.QueuePriority) {
        for token in tokens where token.outcomeSoFar == nil { token.priority = priority }
    }
}

extension ImagePrefetcher {
    /// The counts of a prefetcher, and the streams that receive them.
    private final class Tally: Sendable {
        private let state: Locked<Counts>
        private let followers = Broadcast<Counts>()

        init(total: Int) {
            state = Locked(Counts(total: total))
            if counts.isComplete { followers.finish() }
        }

        var counts: Counts { state.withLock { $0 } }

        func add(_ outcome: ImageRequestHandle.Outcome) {
            let isComplete = state.withLock { counts in
                counts.finished += 1
                if case .failure = outcome { counts.skipped += 1 }
                return counts.isComplete
            }
            followers.tellLatest { counts }
            if isComplete { followers.finish() }
        }

        var progress: AsyncStream<Counts> { followers.latest { counts } }
    }
}
