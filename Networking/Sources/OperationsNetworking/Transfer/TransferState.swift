/// The state machine of an HTTP operation.
///
/// ```text
/// ready ◄──────────────────────── paused
///   │ ▲                             ▲
///   │ └── resumed before it ran ────┤
///   ▼                               │
/// executing ──────► pausing ────────┘
///   │                  │
///   └──────────────────┴────────► finished ◄── ready, paused: when cancelled, through the queue's start
/// ```
///
/// Any thread can request a pause, and the operation's own task performs it. Meanwhile the phase is `pausing`. A resume during
/// that time makes the transfer continue where it stopped.
struct TransferState: Equatable {
    enum Phase: Equatable { case ready, executing, pausing, paused, finished }

    private(set) var phase = Phase.ready
    /// Whether a pause is requested.
    private(set) var isPauseWanted = false
    /// The number of the attempt, by which a late stop finds out that its attempt has ended.
    private(set) var attempt = 0

    enum Pausing: Equatable {
        /// Hold the operation, which is not executing.
        case hold
        /// Hold the operation, and stop its running attempt.
        case stop(attempt: Int)
        case noEffect
    }

    mutating func pause() -> Pausing {
        guard !isPauseWanted else { return .noEffect }
        switch phase {
        case .finished: return .noEffect
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

    /// Resumes. Returns true if the operation must be released.
    mutating func resume() -> Bool {
        guard isPauseWanted, phase != .finished else { return false }
        isPauseWanted = false
        if phase == .paused { phase = .ready }
        return true
    }

    /// Begins an attempt of the operation's task. Returns false if the task must pause first.
    mutating func begin() -> Bool {
        guard phase != .finished, !isPauseWanted else { return false }
        phase = .executing
        attempt += 1
        return true
    }

    /// Ends an attempt that was stopped for a pause or that will be repeated.
    mutating func stopped() {
        if phase != .finished { phase = isPauseWanted ? .paused : .ready }
    }

    mutating func finish() { phase = .finished }
}
