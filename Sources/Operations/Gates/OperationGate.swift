import SchedulerCore

/// A rule of one operation besides its dependencies: a pause, a policy for failed dependencies, conditions, requirements,
/// time limits.
///
/// The thread that adds, claims, pauses or ends the operation calls the hooks without a lock. An operation without gates pays
/// one test of the flag `gated` in its state word. The lock of the operation's attachments guards the state of its gates: see
/// `withGate`.
protocol OperationGate: AnyObject {
    static var rank: OperationGateRank { get }

    /// Called before a queue lists the operation, after the operation has returned its slot, and when its group is placed
    /// in a queue. Other threads may add gates during each of these changes.
    func waits(_ operation: Operation, in queue: OperationQueue)

    /// Whether a claimed operation may start. The operation is not cancelled, and all gates of a lower rank let it pass.
    func mayStart(_ operation: Operation) -> GateAnswer

    /// Whether paused work may continue although the operation is cancelled. All gates of a lower rank let it pass.
    func mayContinue(_ operation: Operation) -> GateAnswer

    /// Whether the gate protects other operations, so that an override of `isCancelled` alone exempts no operation: its
    /// `main()` will run.
    var protectsOthers: Bool { get }

    /// Called when a gate of a lower rank makes a claimed operation wait. The gate gives up reservations.
    func lapse(_ operation: Operation)

    /// Called when all gates have let the operation pass, and it is about to start.
    func willStart(_ operation: Operation, in queue: OperationQueue)

    /// Called when the operation returns its slot although all gates had let it pass. The gate returns the resources
    /// that `mayStart` has acquired.
    ///
    /// - Parameter asks: Whether the operation is asked at once whether it is ready. Then it keeps its place before the others.
    func putBack(_ operation: Operation, andAsk asks: Bool)

    /// Called when the operation has claimed its end. The gate releases closures of the user (rule W5).
    func leaves(_ operation: Operation)

    /// Returns the obstacles to the start of a waiting operation.
    func obstacles(of operation: Operation) -> [GateObstacle]
}

/// The order in which the gates of an operation are asked. Requirements are last, so that no operation holds resources while
/// it waits for something else.
enum OperationGateRank: Int { case hold, dependencyFailures, timeLimits, conditions, requirements }

enum GateAnswer {
    case passes
    /// The operation returns its slot and waits. The gate causes a new evaluation of its readiness. `action` runs when the
    /// operation is a waiting operation again, and receives an executor on threads of the queue's level. `inLine`: the operation
    /// waits in the line of a resource.
    case waits(inLine: Bool = false, action: ((any TaskExecutor) -> Void)? = nil)
    /// The operation fails with this error, if there is one, and is cancelled.
    case givesUp((any Error)?)
}

/// An obstacle to the start of an operation, and the code that can remove it.
struct GateObstacle {
    enum Remover {
        /// The obstacle ends without any action that is visible here.
        case itself
        /// The program has to act.
        case caller
        /// The operation that holds the requirement has to end.
        case operation(Operation)
        /// One of the operations that hold units of the resource has to end.
        case holders(resource: Int, name: String)
        /// All operations of the queue have to end.
        case allOperations(OperationQueue)
    }

    let reason: WaitingReason
    var remover = Remover.itself
}

extension OperationGate {
    func waits(_ operation: Operation, in queue: OperationQueue) {}
    func mayStart(_ operation: Operation) -> GateAnswer { .passes }
    func mayContinue(_ operation: Operation) -> GateAnswer { .passes }
    func willStart(_ operation: Operation, in queue: OperationQueue) {}
    var protectsOthers: Bool { false }
    func lapse(_ operation: Operation) {}
    func putBack(_ operation: Operation, andAsk asks: Bool) {}
    func leaves(_ operation: Operation) {}
    func obstacles(of operation: Operation) -> [GateObstacle] { [] }
}

extension Operation {
    /// The gates by rank.
    final var gates: [any OperationGate] { attachments?.withLock { $0.extras?.gates } ?? [] }

    /// Calls `body` with the gate of a type, under the lock of the attachments. Returns nil if there is no such gate.
    final func withGate<Gate: OperationGate, Result>(_ type: Gate.Type, _ body: (Gate) -> Result) -> Result? {
        attachments?.withLock { $0.extras?.gate(type).map(body) }
    }

    /// Changes the gate of a type. Adds `new` if the operation has no such gate.
    ///
    /// - Parameters:
    ///   - misuse: Returns an error if the change is invalid; nil is the absent gate. Called under the lock, as is `change`.
    /// - Throws: The error of `misuse`, or `OperationError.lateGate` if the operation has started. The call has changed nothing
    ///   then.
    final func changeGate<Gate: OperationGate>(
        orNew new: Gate, unless misuse: (Gate?) -> OperationError? = { _ in nil }, _ change: (Gate) -> Void
    ) throws(OperationError) {
        let label = label
        let error: OperationError? = ownAttachments.withExtras { extras in
            if let error = misuse(extras.gate(Gate.self)) { return error }
            // Under the lock: a thread that sees the flag and then reads the gates finds the new gate.
            guard word.update({ $0.becameGated() }) != nil else { return .lateGate(operation: label) }
            change(extras.gate(orNew: new))
            return nil
        }
        if let error { throw error }
        // In the line of a resource, the operation would delay others although the new gate may hold it back. It asks all its
        // gates again.
        leaveLine()
    }

    /// Leaves the lines of the resources that the operation waits for. It keeps its seniority, and its readiness is evaluated
    /// again.
    final func leaveLine() {
        if word.lifecycle.hasQueue, withGate(RequirementGate.self, { _ in }) != nil { ResourcePool.stepOut(scheduleID) }
    }

    /// Notifies the gates that the operation waits in a queue.
    @inline(__always)
    final func notifyGatesOfWait(in queue: OperationQueue) {
        if word.lifecycle.contains(.gated) { notifyGates(queue) }
    }

    @inline(never)
    private final func notifyGates(_ queue: OperationQueue) { for gate in gates { gate.waits(self, in: queue) } }

    /// Reports `reason` as a failure and cancels the operation.
    final func giveUp(_ reason: (any Error)?) {
        if let reason { reportFailure(reason) }
        cancel()
    }
}

extension Attachments.Extras {
    func gate<Gate: OperationGate>(_ type: Gate.Type) -> Gate? {
        for case let gate as Gate in gates { return gate }
        return nil
    }

    func gate<Gate: OperationGate>(orNew new: Gate) -> Gate {
        if let known = gate(Gate.self) { return known }
        let place = gates.firstIndex { type(of: $0).rank.rawValue > Gate.rank.rawValue }
        gates.insert(new, at: place ?? gates.endIndex)
        return new
    }
}
