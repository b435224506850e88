import SchedulerCore

/// The pause of an operation. See `Pause.swift`.
final class Hold: OperationGate {
    static var rank: OperationGateRank { .hold }

    /// Whether the operation is paused.
    @exclusivity(unchecked) var isOn = false
    /// The calls of `releaseSlot` whose time is not over.
    @exclusivity(unchecked) var releases: [Release] = []
    var isHeld: Bool { isOn || !releases.isEmpty }
    /// The work, while it waits to continue.
    @exclusivity(unchecked) private var standing: Standing?

    /// A call of `releaseSlot`.
    final class Release: Sendable {
        /// Reads a clock of the program, so it is called without the lock.
        let remaining: @Sendable () -> Duration

        init(_ remaining: @escaping @Sendable () -> Duration) { self.remaining = remaining }
    }

    /// The tasks of the operation that wait to continue. They continue together.
    struct Standing {
        fileprivate var continuations: [CheckedContinuation<Void, Never>]
        /// Whether the operation's queue resumes the work. An operation without a queue holds no slot.
        fileprivate let isInQueue: Bool

        func resume() { for continuation in continuations { continuation.resume() } }
    }

    enum Stand {
        /// The operation is not paused.
        case continues
        /// This task is the first one that waits, and releases the slot.
        case begins
        /// Other tasks of the operation wait already.
        case joins
    }

    var isStanding: Bool { standing != nil }

    /// Has a task wait, if the operation is paused, or is about to continue after a pause.
    func stand(_ continuation: CheckedContinuation<Void, Never>, isInQueue: Bool) -> Stand {
        if standing != nil {
            standing?.continuations.append(continuation)
            return .joins
        }
        guard isHeld else { return .continues }
        standing = Standing(continuations: [continuation], isInQueue: isInQueue)
        return .begins
    }

    func takeStanding() -> Standing? { standing.take() }

    // The operation was paused while it requested resources.
    func waits(_ operation: Operation, in queue: OperationQueue) {
        if operation.isHeld, !operation.word.lifecycle.isCancelled { operation.leaveLine() }
    }

    func mayStart(_ operation: Operation) -> GateAnswer { operation.isHeld ? .waits() : .passes }

    /// Takes the paused work of an operation that is in no queue.
    func takeStandingAlone() -> Standing? { standing?.isInQueue == false ? standing.take() : nil }
}

extension Operation {
    /// Whether the operation is paused, or pauses at the next point at which its work can stop.
    final var isPausedByProgram: Bool { withGate(Hold.self) { $0.isOn } ?? false }

    /// Whether the operation is paused, or has released its slot for a time.
    final var isHeld: Bool { withGate(Hold.self) { $0.isHeld } ?? false }

    /// The reason why it is held; nil if it is not.
    final var holdReason: WaitingReason? {
        guard !word.lifecycle.isCancelled, let hold = withGate(Hold.self, { (isOn: $0.isOn, releases: $0.releases) })
        else { return nil }
        if hold.isOn { return .paused }
        return hold.releases.map { $0.remaining() }.max().map { .slotReleased(for: max($0, .zero)) }
    }
}
