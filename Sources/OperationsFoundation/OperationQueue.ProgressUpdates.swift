public import Operations

extension OperationQueue {
    /// The course of a queue's progress, as an asynchronous sequence (rule G5).
    ///
    /// It begins with the present state, continues whenever the queue counts an operation, a child reports or `totalUnitCount`
    /// changes, and ends when the queue is gone. A slow reader misses states in between, never the last one.
    public struct ProgressUpdates: AsyncSequence, Sendable {
        private weak var progress: QueueProgress?

        init(of progress: QueueProgress) { self.progress = progress }

        /// The numbers of a queue's progress at one moment, which fit together.
        public struct Element: Equatable, Sendable {
            /// How far the work is, from 0 to 1.
            public let fractionCompleted: Double
            /// The operations that have finished through `main()`.
            public let completedUnitCount: Int64
            /// The operations that the whole work consists of.
            public let totalUnitCount: Int64
        }

        public func makeAsyncIterator() -> Iterator {
            Iterator(progress: progress, ticks: progress?.ticks().makeAsyncIterator())
        }

        /// Asks for the state after each tick, so that it never hands out one that is older than the last.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate weak var progress: QueueProgress?
            fileprivate var ticks: AsyncStream<Void>.Iterator?
            private var last: Element?

            fileprivate init(progress: QueueProgress?, ticks: AsyncStream<Void>.Iterator?) {
                self.progress = progress
                self.ticks = ticks
            }

            public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
                while await ticks?.next(isolation: actor) != nil {
                    guard let update = progress?.update else { return nil }
                    if update == last { continue }
                    last = update
                    return update
                }
                return nil
            }

            public mutating func next() async -> Element? { await next(isolation: nil) }
        }
    }
}
