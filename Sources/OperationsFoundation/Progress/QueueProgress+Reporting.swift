import Foundation
import Operations

extension QueueProgress: ProgressReporter {
    /// Gives the operation a progress of its own for the time of its `main()`.
    func willRunMain(of operation: Operation) {
        guard totalUnitCount > 0 else { return }
        beginProgress(of: operation).begin()
    }

    /// Counts the operation: its fraction becomes the whole unit, in one step.
    func didRunMain(of operation: Operation) { count(operation)?.end() }

    /// A group's children are fractions of its unit. The work of an async operation changes threads, so nothing is
    /// `Progress.current()` in there.
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

    /// Answers the operation's own progress, if it had one, to be ended and released without the lock.
    private func count(_ operation: Operation) -> OperationProgress? {
        // It has announced its end from inside, and the group has told of it.
        let isCounted = isOfGroup && operation.isFinished
        var own: OperationProgress?
        change {
            own = running.removeValue(forKey: ObjectIdentifier(operation))?.progress
            if total > 0, !isCounted { completed += 1 }
        }
        return own
    }

    /// Both only grow, and may be told of late: what is told of first stays if it is more.
    func childrenCounted(added: Int, ended: Int) {
        change {
            total = max(total, Int64(added))
            completed = max(completed, Int64(ended))
        }
    }
}

extension QueueProgress {
    /// A tick at once and after every change; several that nobody took in time are one.
    func ticks() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = withLock {
            watchersSoFar += 1
            watchers[watchersSoFar] = continuation
            return watchersSoFar
        }
        continuation.onTermination = { [weak self] _ in
            let gone = self?.withLock { self?.watchers.removeValue(forKey: id) }
            _ = consume gone
        }
        continuation.yield()
        return stream
    }
}
