/// The queues whose operations a recorder records.
///
/// A queue holds neither the recorder nor this object. The recording of a queue ends with ``stop()``, with the release of this
/// object, or with the release of the queue.
package final class RecordedQueues: Sendable {
    private struct Recording: Sendable {
        weak let queue: OperationQueue?
        let watcher: StepWatcher
    }

    private let recordings = Locked<[Recording]>([])

    package init() {}

    deinit { stop() }

    /// Calls `handler` for each step of the operations that are added to the queue from now on.
    ///
    /// The handler is called on the thread of the step, without a lock. Recording the same queue again has no effect. O(q) for
    /// q recorded queues.
    package func record(_ queue: OperationQueue, handler: @escaping @Sendable (Operation, QueueStep) -> Void) {
        let watcher = StepWatcher(handler)
        let isNew = recordings.withLock { recordings in
            recordings.removeAll { $0.queue == nil }
            guard !recordings.contains(where: { $0.queue === queue }) else { return false }
            recordings.append(Recording(queue: queue, watcher: watcher))
            return true
        }
        guard isNew else { return }
        queue.addWatcher(watcher)
        // Another thread may have called `stop()` before the watcher was added.
        let isStopped = recordings.withLock { recordings in !recordings.contains { $0.watcher === watcher } }
        if isStopped { queue.removeWatcher(watcher) }
    }

    /// Ends the recording of all queues. A step that is being recorded on another thread may still arrive.
    package func stop() {
        let stopped = recordings.withLock { recordings in
            defer { recordings = [] }
            return recordings
        }
        for recording in stopped { recording.queue?.removeWatcher(recording.watcher) }
    }
}

private final class StepWatcher: QueueWatcher {
    private let handler: @Sendable (Operation, QueueStep) -> Void

    init(_ handler: @escaping @Sendable (Operation, QueueStep) -> Void) { self.handler = handler }

    func operation(_ operation: Operation, did step: QueueStep) { handler(operation, step) }
}
