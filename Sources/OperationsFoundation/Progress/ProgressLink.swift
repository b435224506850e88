import Foundation
@_spi(Hosting) import KeyValueObserving

/// What is kept beside a progress: its observers, and the progress above it. Guarded by the lock of `ProgressTree`.
final class ProgressLink: KeyValueObservers, @unchecked Sendable {
    // Sendable: all is guarded by the lock.
    private(set) weak var progress: Progress?
    weak var parent: Progress?
    /// How many calls of `cancel()`, `pause()` and `resume()` are under way.
    var steering = 0
    /// The number of the lookout for changes that are not reported; see `ProgressTree.look(at:)`.
    var lookout = 0
    private var observerState = ObserverState()
    /// What was reported last; nil as long as the progress was never observed.
    private var known: ProgressNumbers?

    init(_ progress: Progress?) {
        self.progress = progress
        super.init(keptElsewhere: ())
    }

    deinit { observerState.objectIsGone() }

    override func step(_ body: (inout ObserverState) -> Void) { ProgressTree.withLock { body(&observerState) } }

    override func observingBegins(of object: AnyObject, by observation: Observation) {
        // Not of one of a subclass: that announces what it will, and nothing of it is read here.
        guard let progress else { return }
        ProgressTree.withLock { begin(progress) }
    }

    /// From here on changes are noted. Under the lock.
    func begin(_ progress: Progress) { if known == nil { known = ProgressNumbers(of: progress) } }

    /// Notes what has changed since the last look. Under the lock.
    ///
    /// - Returns: The properties that the caller has to tell of, without the lock; nil: nothing has changed.
    func note(_ progress: Progress) -> [PropertyKey]? {
        guard let old = known else { return nil }
        let new = ProgressNumbers(of: progress)
        guard new != old else { return nil }
        known = new
        guard !observerState.isEmpty else { return [] }
        return old.changes(to: new).filter { observerState.note($0) }.map(\.key)
    }
}

/// What of a progress can be observed.
struct ProgressNumbers: Equatable {
    private let fraction: Double
    private let completed: Int64
    private let total: Int64
    private let isFinished: Bool
    private let isCancelled: Bool
    private let isPaused: Bool
    private let isIndeterminate: Bool

    /// Under the lock. The progress is of no class that a user could have made.
    init(of progress: Progress) {
        let queue = progress as? QueueProgress
        fraction = progress.fractionCompleted
        completed = queue?.completed ?? progress.completedUnitCount
        total = queue?.total ?? progress.totalUnitCount
        isFinished = progress.isFinished
        isCancelled = progress.isCancelled
        isPaused = progress.isPaused
        isIndeterminate = progress.isIndeterminate
    }

    func changes(to new: ProgressNumbers) -> [Change] {
        var changes: [Change] = []
        func note<Value: Equatable>(_ name: String, _ path: KeyPath<ProgressNumbers, Value>) {
            let (old, new) = (self[keyPath: path], new[keyPath: path])
            if old != new { changes.append(Change(.name(name), old: old, new: new)) }
        }
        note("totalUnitCount", \.total)
        note("completedUnitCount", \.completed)
        note("fractionCompleted", \.fraction)
        note("isIndeterminate", \.isIndeterminate)
        note("isCancelled", \.isCancelled)
        note("isPaused", \.isPaused)
        note("isFinished", \.isFinished)
        return changes
    }
}
