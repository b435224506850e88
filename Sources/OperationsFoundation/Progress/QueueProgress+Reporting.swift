import Foundation
import Operations

extension QueueProgress: ProgressReporter {
    /// Gives the operation a progress of its own for the time of its `main()`.
    func willRunMain(of operation: Operation) {
        guard totalUnitCount > 0 else { return }
        let own = OperationProgress()
        withLock {
            own.takeOver(from: self)
            running[ObjectIdentifier(operation)] = own
        }
        own.begin()
    }

    /// Counts the operation: its fraction becomes the whole unit, in one step.
    func didRunMain(of operation: Operation) {
        var own: OperationProgress?
        change {
            own = running.removeValue(forKey: ObjectIdentifier(operation))
            if total > 0 { completed += 1 }
        }
        own?.end()
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
