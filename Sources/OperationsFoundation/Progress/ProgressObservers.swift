@_spi(Hosting) import KeyValueObserving

/// The observers of a queue's progress. They are part of what its lock guards.
final class ProgressObservers: KeyValueObservers, @unchecked Sendable {
    // Sendable: `progress` is set before anybody else knows of these.
    fileprivate(set) weak var progress: QueueProgress?

    override init() { super.init(keptElsewhere: ()) }

    override func step(_ body: (inout ObserverState) -> Void) {
        guard let progress else {
            var nobody = ObserverState()
            return body(&nobody)
        }
        progress.withLock { body(&progress.observerState) }
    }
}

extension QueueProgress {
    func beObservable() { observers.progress = self }

    /// Makes a change of the numbers under the lock, notes what has changed under the same lock, and tells of it after.
    func noting(_ body: () -> Void) {
        var news: [PropertyKey] = []
        withLock {
            guard !observerState.isEmpty else { return body() }
            let before = numbers
            body()
            let after = numbers
            for (name, old, new) in before.differences(from: after) {
                if observerState.note(Change(.name(name), old: old, new: new)) { news.append(.name(name)) }
            }
        }
        for key in news { observers.tell(key, of: self) }
    }

    private var numbers: Numbers {
        Numbers(fraction: fractionCompleted, completed: completed, total: total)
    }

    private struct Numbers {
        let fraction: Double
        let completed: Int64
        let total: Int64

        func differences(from other: Numbers) -> [(name: String, old: Any, new: Any)] {
            var found: [(name: String, old: Any, new: Any)] = []
            if total != other.total { found.append(("totalUnitCount", total, other.total)) }
            if completed != other.completed { found.append(("completedUnitCount", completed, other.completed)) }
            if fraction != other.fraction { found.append(("fractionCompleted", fraction, other.fraction)) }
            return found
        }
    }
}
