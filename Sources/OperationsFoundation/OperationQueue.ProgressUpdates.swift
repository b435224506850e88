public import Operations

extension OperationQueue {
    /// The states of a queue's progress, as an asynchronous sequence.
    ///
    /// The first element is the present state. Further elements follow when the queue counts an operation, when a child
    /// reports, and when `totalUnitCount` changes. The sequence ends when the queue is deallocated, so a loop in a task
    /// that holds the queue ends by `break` or a cancellation only. A slow reader may miss intermediate states, but receives the
    /// last one.
    public struct ProgressUpdates: AsyncSequence, Sendable {
        private weak var progress: QueueProgress?

        init(of progress: QueueProgress) { self.progress = progress }

        /// The numbers of a queue's progress at one moment. The numbers are consistent with each other.
        public struct Element: Equatable, Sendable {
            /// The completed fraction of the work, from 0 to 1.
            public let fractionCompleted: Double
            /// The number of operations that have finished through `main()`.
            public let completedUnitCount: Int64
            /// The total number of operations.
            public let totalUnitCount: Int64
        }

        /// Returns an iterator, which starts with the present state.
        public func makeAsyncIterator() -> Iterator {
            Iterator(progress: progress, ticks: progress?.ticks().makeAsyncIterator())
        }

        /// An iterator that reads the state after each tick. A state is therefore never older than the state before it.
        public struct Iterator: AsyncIteratorProtocol {
            // Strong: the last state may be read after the end of the queue, which ends the ticks. The progress holds no queue.
            fileprivate let progress: QueueProgress?
            fileprivate var ticks: AsyncStream<Void>.Iterator?
            private var last: Element?

            fileprivate init(progress: QueueProgress?, ticks: AsyncStream<Void>.Iterator?) {
                self.progress = progress
                self.ticks = ticks
            }

            /// Waits for the next state that differs from the last one; nil after the queue's deallocation or the task's
            /// cancellation.
            public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
                while await ticks?.next(isolation: actor) != nil {
                    guard let update = progress?.update else { return nil }
                    if update == last { continue }
                    last = update
                    return update
                }
                return nil
            }

            /// Waits for the next state that differs from the last one; nil after the queue's deallocation or the task's
            /// cancellation.
            public mutating func next() async -> Element? { await next(isolation: nil) }
        }
    }
}
