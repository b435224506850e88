/// The operations of a run for a page, which follow its events. The value reads no clock.
public struct RunBoard: Sendable {
    public typealias Instant = RunProgress.Instant

    /// The state of an operation.
    public enum State: Sendable { case waiting, running, done, failed, skipped, cancelled }

    /// An operation. Those of families that are found during the run follow the others.
    public struct Row: Sendable {
        public let operation: PlannedOperation
        public fileprivate(set) var state = State.waiting
        public fileprivate(set) var began: Instant?
        public fileprivate(set) var ended: Instant?
        /// The reason of the outcome; empty for a success.
        public fileprivate(set) var note = ""
        /// The indexes of the operations that must end before this one.
        public let dependencies: [Range<Int>]
    }

    public private(set) var rows: [Row]
    /// The number of changes.
    public private(set) var version = 0
    private var progress: RunProgress
    /// The rows of the operations that are not in the plan.
    private var found: [String: Int] = [:]

    /// Creates the board of a run that has not begun. See ``RunProgress/init(of:jobs:durations:)``.
    public init(of plan: WorkflowPlan, jobs: Int?, durations: [Duration?]) {
        progress = RunProgress(of: plan, jobs: jobs, durations: durations)
        rows = plan.operations.map { operation in
            let barrier = operation.barrierAhead.map { [$0..<$0 + 1] } ?? []
            return Row(operation: operation, dependencies: operation.awaited + barrier)
        }
    }

    private func index(of name: String) -> Int? { found[name] ?? progress.indices[name] }

    /// Changes the board by an event at an instant.
    public mutating func note(_ event: RunEvent, at now: Instant) {
        progress.note(event, at: now)
        switch event {
        case .started(let operation): begin(operation.name, at: now)
        case .expanded(let family, let members):
            begin(family.name, at: now)
            let awaited = index(of: family.name).map { rows[$0].dependencies } ?? []
            for member in members where index(of: member.name) == nil {
                found[member.name] = rows.count
                rows.append(Row(operation: member, dependencies: awaited))
            }
        case .familyEnded(let family): end(family.name, .done, at: now)
        case .ended(let conclusion, _): end(conclusion, at: now)
        case .short, .explained, .retrying, .output: return
        }
        version += 1
    }

    private mutating func begin(_ name: String, at now: Instant) {
        guard let index = index(of: name) else { return }
        (rows[index].state, rows[index].began) = (.running, rows[index].began ?? now)
    }

    private mutating func end(_ name: String, _ state: State, at now: Instant, note: String = "") {
        guard let index = index(of: name) else { return }
        (rows[index].state, rows[index].ended, rows[index].note) = (state, now, note)
    }

    private mutating func end(_ conclusion: Conclusion, at now: Instant) {
        switch conclusion.outcome {
        case .succeeded: end(conclusion.name, .done, at: now)
        case .upToDate: end(conclusion.name, .done, at: now, note: "up to date")
        case .failed(let failure):
            let tolerated = conclusion.isTolerated ? " (may fail)" : ""
            end(conclusion.name, .failed, at: now, note: RunReport.text(of: failure) + tolerated)
        case .skipped(let reason): end(conclusion.name, .skipped, at: now, note: reason)
        case .unneeded(let reason): end(conclusion.name, .skipped, at: now, note: "not needed: \(reason)")
        case .cancelled: end(conclusion.name, .cancelled, at: now)
        }
    }

    /// Marks the operations that never started. Call it when the run has ended.
    public mutating func end(with result: RunResult, at now: Instant) {
        for conclusion in result.conclusions {
            if let index = index(of: conclusion.name), rows[index].ended == nil { end(conclusion, at: now) }
        }
        version += 1
    }

    /// Returns the reason why an operation waits. Empty for one that does not.
    public func reason(for index: Int) -> String {
        guard rows.indices.contains(index), rows[index].state == .waiting else { return "" }
        return progress.states.indices.contains(index) ? progress.reason(for: index) : "waits for a place in its queue"
    }

    /// Returns the duration of the operation in an earlier run. `nil` if none is known.
    public func usualDuration(of index: Int) -> Duration? {
        progress.states.indices.contains(index) ? progress.usualDuration(of: index) : nil
    }

    /// Returns the estimated time until the end of the run. `nil` if too few durations are known. O(operations).
    public mutating func timeLeft(at now: Instant) -> Duration? { progress.left(at: now) }

    /// Returns a sentence about the operation, or the queue, without which the run would end sooner. O(operations and links).
    public mutating func holdUp(at now: Instant) -> String? { HoldUp(of: &progress, at: now)?.text }
}
