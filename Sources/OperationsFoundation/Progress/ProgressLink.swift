import Foundation
@_spi(Hosting) import KeyValueObserving

/// The data that is stored beside a progress: its observers, and its parent. Guarded by the lock of `ProgressTree`.
final class ProgressLink: KeyValueRegistrar, @unchecked Sendable {
    // Sendable: the lock guards all properties.
    private(set) weak var progress: Progress?
    weak var parent: Progress?
    /// The number of calls of `cancel()`, `pause()` and `resume()` that are running now.
    var steering = 0
    /// The number of the current lookout, which looks for unreported changes. See `ProgressTree.look(at:)`.
    var lookout = 0
    private var observerState = ObserverState()
    /// The last recorded numbers; nil until the progress is observed.
    private var known: ProgressNumbers?

    init(_ progress: Progress?) {
        self.progress = progress
        super.init(keptElsewhere: ())
    }

    deinit { observerState.objectIsGone() }

    override func step(_ body: (inout ObserverState) -> Void) { ProgressTree.withLock { body(&observerState) } }

    override func observingBegins(of object: AnyObject, by observation: Observation) {
        // A subclass of `Progress` announces its own changes, and its properties are not read here.
        guard let progress else { return }
        ProgressTree.withLock { begin(progress) }
    }

    /// Begins to record changes. Called under the lock.
    func begin(_ progress: Progress) { if known == nil { known = ProgressNumbers(of: progress) } }

    /// Records the changes since the last call. Called under the lock.
    ///
    /// - Returns: The properties whose observers the caller must notify, without the lock; nil if nothing has changed.
    func note(_ progress: Progress) -> [PropertyKey]? {
        guard let old = known else { return nil }
        let new = ProgressNumbers(of: progress)
        guard new != old else { return nil }
        known = new
        guard !observerState.isEmpty else { return [] }
        return old.changes(to: new).filter { observerState.note($0) }.map(\.key)
    }
}

/// The observable properties of a progress.
struct ProgressNumbers: Equatable {
    private let fraction: Double
    private let completed: Int64
    private let total: Int64
    private let isFinished: Bool
    private let isCancelled: Bool
    private let isPaused: Bool
    private let isIndeterminate: Bool

    /// Reads the numbers. Called under the lock. The class of the progress is never a class of the user.
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
