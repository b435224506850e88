#if Networking
/// How far an HTTP operation is (rule R2).
///
///     ready ◄──────────────────────── paused
///       │ ▲                             ▲
///       │ └── resumed before it ran ────┤
///       ▼                               │
///     executing ──────► pausing ────────┘
///       │                  │
///       └──────────────────┴────────► finished ◄── ready, paused: when cancelled, through the queue's start
///
/// Pausing is asked for from any thread, and obeyed by the operation's own task: so between the two the transfer is
/// being stopped, and a resumption that comes meanwhile has it begin again where it was.
struct TransferState: Equatable {
    enum Phase: Equatable { case ready, executing, pausing, paused, finished }

    private(set) var phase = Phase.ready
    /// Somebody wants it to stand still.
    private(set) var isPauseWanted = false
    /// Goes up with each attempt, so that a late order to stop finds the one that it was meant for gone.
    private(set) var attempt = 0

    enum Pausing: Equatable {
        /// It is to be held back: it does not execute.
        case hold
        /// It is to be held back, and the attempt that goes on is to be stopped.
        case stop(attempt: Int)
        case needless
    }

    mutating func pause() -> Pausing {
        guard !isPauseWanted else { return .needless }
        switch phase {
        case .finished: return .needless
        case .ready:
            isPauseWanted = true
            phase = .paused
            return .hold
        case .paused:
            isPauseWanted = true
            return .hold
        case .executing, .pausing:
            isPauseWanted = true
            phase = .pausing
            return .stop(attempt: attempt)
        }
    }

    /// True: it is to be let go.
    mutating func resume() -> Bool {
        guard isPauseWanted, phase != .finished else { return false }
        isPauseWanted = false
        if phase == .paused { phase = .ready }
        return true
    }

    /// The operation's task is about to transfer; false when it is to stand aside first.
    mutating func begin() -> Bool {
        guard phase != .finished, !isPauseWanted else { return false }
        phase = .executing
        attempt += 1
        return true
    }

    /// The transfer has stopped because of a pause, and the task is about to stand aside.
    mutating func stopped() {
        if phase != .finished { phase = isPauseWanted ? .paused : .ready }
    }

    mutating func finish() { phase = .finished }
}
#endif
