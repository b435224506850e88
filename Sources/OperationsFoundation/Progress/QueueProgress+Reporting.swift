import Foundation
import Operations

extension QueueProgress: ProgressReporter {
    /// Gives the operation its own progress while `main()` runs.
    func willRunMain(of operation: Operation) {
        guard totalUnitCount > 0 else { return }
        beginProgress(of: operation).begin()
    }

    /// Counts the operation. The fraction of the operation becomes the whole unit in one step.
    func didRunMain(of operation: Operation) { count(operation)?.end() }

    /// Makes a group's children fractions of the group's unit. The work of an async operation changes threads, so no progress
    /// is `Progress.current()` in it.
    func willRunTask(of operation: Operation) {
        guard totalUnitCount > 0, let group = operation as? GroupOperation else { return }
        beginProgress(of: operation).addChild(group.progress, withPendingUnitCount: 1)
    }

    func didRunTask(of operation: Operation) { _ = count(operation) }

    private func beginProgress(of operation: Operation) -> OperationProgress {
        let own = OperationProgress()
        withLock {
            own.parent = self
            own.takeOver(from: self)
            begun += 1
            running[ObjectIdentifier(operation)] = (own, begun)
        }
        return own
    }

    /// Counts the operation. Returns the operation's own progress, if any, for the caller to end and release without the lock.
    private func count(_ operation: Operation) -> OperationProgress? {
        // The operation announced its end from inside `main()`, and the group has already reported it.
        let isCounted = isOfGroup && operation.isFinished
        var own: OperationProgress?
        change {
            own = running.removeValue(forKey: ObjectIdentifier(operation))?.progress
            // The program may hold it, and add this progress to one of its descendants.
            own?.parent = nil
            if total > 0, !isCounted { completed = completed.saturatingAdding(1) }
        }
        return own
    }

    /// Updates both counts. Both only grow, and reports may arrive late or out of order, so the larger value stays.
    func childrenCounted(added: Int, ended: Int) {
        change {
            total = max(total, Int64(added))
            completed = max(completed, Int64(ended))
        }
    }

    /// Ends the streams of states. The program may hold the progress for longer than the queue.
    func queueIsGone() {
        let watchers = withLock {
            defer { self.watchers = nil }
            return self.watchers
        }
        watchers?.values.forEach { $0.finish() }
    }
}

extension QueueProgress {
    /// Returns a stream with a tick at once and after every change. Ticks that a reader has not consumed are merged into one.
    func ticks() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id: Int? = withLock {
            guard watchers != nil else { return nil }
            watchersSoFar += 1
            watchers?[watchersSoFar] = continuation
            return watchersSoFar
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            let gone = self?.withLock { self?.watchers?.removeValue(forKey: id) }
            _ = consume gone
        }
        continuation.yield()
        return stream
    }
}
