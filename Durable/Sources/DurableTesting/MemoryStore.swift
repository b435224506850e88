public import DurableCore
public import OperationsDurable

/// A store in memory for tests, with a clock that only the test moves, and with injected faults.
///
/// The contents end with the store. Each question scans all unfinished operations.
public final class MemoryStore: DurableStore {
    /// A fault of one commit.
    public enum Fault: Sendable, Hashable {
        /// The commit fails, and changes nothing.
        case failedCommit
        /// The commit succeeds, and the caller receives an error.
        case lostReply
    }

    private struct State {
        let rows: MemoryRows
        var nextFault: (@Sendable () -> Fault?)?
    }

    public let limits: DurableLimits
    public let identity = "memory"
    public let notices = StoreNotices()
    private let state: Locked<State>

    /// Creates an empty store.
    public init(
        now: DurableInstant = DurableInstant(microseconds: 1_800_000_000_000_000),
        limits: DurableLimits = DurableLimits()
    ) {
        self.limits = limits
        state = Locked(State(rows: MemoryRows(now: now)))
    }

    /// The current instant of the store's clock.
    public var now: DurableInstant { state.withLock { $0.rows.now } }

    /// Moves the clock, and wakes the workers.
    public func advance(by duration: Duration) {
        state.withLock { $0.rows.now = $0.rows.now + duration }
        notices.publishUnknownChange()
    }

    /// Sets a closure that chooses the fault of each further commit. Nil means no fault.
    public func setFaults(_ nextFault: (@Sendable () -> Fault?)?) { state.withLock { $0.nextFault = nextFault } }

    public func commit<Reply: Sendable>(
        _ event: @escaping @Sendable (inout DurableMachine) throws -> Reply
    ) async throws -> Reply {
        let (reply, effects) = try state.withLock { state in
            let fault = state.nextFault?()
            if fault == .failedCommit { throw DurableError.unavailable("an injected fault before the commit") }
            var machine = DurableMachine(rows: state.rows, limits: limits)
            let reply = Result { try event(&machine) }
            return (
                fault == .lostReply ? .failure(DurableError.unavailable("an injected lost reply")) : reply,
                machine.takeEffects()
            )
        }
        notices.publish(effects)
        return try reply.get()
    }

    public func read<Reply: Sendable>(
        _ question: @escaping @Sendable (inout DurableMachine) throws -> Reply
    ) async throws -> Reply {
        try state.withLock { state in
            var machine = DurableMachine(rows: state.rows, limits: limits)
            return try question(&machine)
        }
    }

    /// Checks that all redundant columns equal a recount.
    package func checkInvariants() throws { try state.withLock { try $0.rows.checkInvariants() } }
}
