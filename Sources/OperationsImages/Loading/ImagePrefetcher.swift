#if Networking
import HTTPCore
public import Operations
import OperationsNetworking

/// Loads a list of images ahead, as something that nobody waits for yet (rule I4). Who asks for one of them meanwhile shares
/// its transfer, which becomes as urgent as that wish.
///
/// ```swift
/// let prefetcher = ImagePrefetcher(urls, with: loader)
/// for await counts in prefetcher.progress { print(counts.finished, "of", counts.total) }
/// ```
///
/// One that is dropped goes on. Several are apart: cancelling one leaves the wishes of others as they are.
public final class ImagePrefetcher: Sendable {
    /// How far it is.
    public struct Counts: Hashable, Sendable {
        /// Images that are over, one way or the other.
        public internal(set) var finished = 0
        /// Those of them that failed or were cancelled.
        public internal(set) var skipped = 0
        public let total: Int

        public var isComplete: Bool { finished >= total }
    }

    private let tally: Tally
    private let tokens: [ImageToken]

    /// Begins at once. An empty list is complete at once.
    ///
    /// - Parameters:
    ///   - urls: In the order in which they are asked for. One that is there twice counts twice.
    ///   - loader: What loads them.
    ///   - options: What they will be asked for with, as far as the decoding goes: else only the original is there then.
    ///   - priority: See `setPriority(_:)`, which changes it.
    public init(
        _ urls: [String], with loader: ImageLoader, options: ImageLoadOptions = ImageLoadOptions(),
        priority: Operation.QueuePriority = .low
    ) {
        let tally = Tally(total: urls.count)
        self.tally = tally
        tokens = urls.map { loader.load($0, options: options, priority: priority) }
        for token in tokens { token.whenOver { tally.add($0) } }
    }

    /// How far it is now.
    public var counts: Counts { tally.counts }

    /// How far it is, each time that this changes; what is not taken in time is replaced by what is newer. Ends with the last
    /// image.
    public var progress: AsyncStream<Counts> { tally.progress }

    /// Suspends until all images are over, or the task is cancelled; answers how far it is then.
    @discardableResult
    public func waitUntilFinished() async -> Counts {
        for await _ in progress {}
        return counts
    }

    /// Gives up what is not there yet.
    public func cancel() { for token in tokens { token.cancel() } }

    /// How urgent what is not there yet is.
    public func setPriority(_ priority: Operation.QueuePriority) {
        for token in tokens where token.outcomeSoFar == nil { token.priority = priority }
    }
}

extension ImagePrefetcher {
    /// Counts what is over, and tells those who follow.
    private final class Tally: Sendable {
        private let state: Locked<Counts>
        private let followers = Broadcast<Counts>()

        init(total: Int) {
            state = Locked(Counts(total: total))
            if counts.isComplete { followers.finish() }
        }

        var counts: Counts { state.withLock { $0 } }

        func add(_ outcome: ImageToken.Outcome) {
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
#endif
