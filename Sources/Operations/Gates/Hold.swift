/// The pause of an operation. See `Pause.swift`.
final class Hold: OperationGate {
    static var rank: OperationGateRank { .hold }

    @exclusivity(unchecked) var isOn = false
    /// The work, while it waits to continue.
    @exclusivity(unchecked) var standing: Standing?

    struct Standing {
        let continuation: CheckedContinuation<Void, Never>
        /// Whether the operation's queue resumes the work. An operation without a queue holds no slot.
        let isInQueue: Bool
    }

    func mayStart(_ operation: Operation) -> GateAnswer { operation.isHeld ? .waits() : .passes }

    func obstacles(of operation: Operation) -> [GateObstacle] { operation.isHeld ? [.init(reason: .paused)] : [] }

    /// Takes the paused work of an operation that is in no queue.
    func takeStandingAlone() -> Standing? { standing?.isInQueue == false ? standing.take() : nil }
}

extension Operation {
    /// Whether the operation is paused, or pauses at the next point at which its work can stop.
    final var isHeld: Bool { withGate(Hold.self) { $0.isOn } ?? false }
}
