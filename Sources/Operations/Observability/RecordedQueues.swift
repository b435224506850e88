/// The queues whose events a recorder records.
///
/// A queue holds neither the recorder nor this object. The recording of a queue ends with ``stop()``, with the release of this
/// object, or with the release of the queue.
package final class RecordedQueues: Sendable {
    private struct Recording: Sendable {
        weak let queue: OperationQueue?
        let source: EventSource
    }

    private struct State {
        var recordings: [ObjectIdentifier: Recording] = [:]
        /// The number of recordings at which the recordings of released queues are removed next.
        var sweepLimit = 16
    }

    private let state = Locked(State())

    package init() {}

    deinit { stop() }

    /// Calls `handler` for the events of the operations that are added to the queue from now on.
    ///
    /// The handler is called as `addEventHandler(for:_:onEnd:)` states. Recording the same queue again has no effect. Amortized
    /// O(1).
    package func record(
        _ queue: OperationQueue, for kinds: OperationEvent.Kinds,
        handler: @escaping @Sendable (OperationEvent) -> Void
    ) {
        let key = ObjectIdentifier(queue)
        let new = Recording(queue: queue, source: EventSource(queue: queue, kinds: kinds, handler: handler))
        let (isNew, old, mustSweep): (Bool, Recording?, Bool) = state.withLock { state in
            let old = state.recordings[key]
            // A released queue may have had the address of this queue.
            guard old?.queue !== queue else { return (false, nil, false) }
            state.recordings[key] = new
            return (true, old, state.recordings.count >= state.sweepLimit)
        }
        guard isNew else { return }
        // Released without the lock.
        withExtendedLifetime(old) {}
        queue.addWatcher(new.source)
        // Another thread may have called `stop()` before the watcher was added.
        let isStopped = state.withLock { $0.recordings[key]?.source !== new.source }
        if isStopped { queue.removeWatcher(new.source) }
        if mustSweep { sweep() }
    }

    /// Ends the recording of all queues. An event that is being recorded on another thread may still arrive.
    package func stop() {
        let stopped = state.withLock { state in
            defer { state = State() }
            return state.recordings
        }
        for recording in stopped.values { recording.queue?.removeWatcher(recording.source) }
    }

    /// Removes the recordings of released queues. The recordings are read and released without the lock.
    private func sweep() {
        let all = state.withLock { $0.recordings }
        let released = all.filter { $0.value.queue == nil }
        state.withLock { state in
            for (key, recording) in released where state.recordings[key]?.source === recording.source {
                state.recordings[key] = nil
            }
            state.sweepLimit = max(16, 2 * state.recordings.count)
        }
        withExtendedLifetime(all) {}
    }
}
