import Operations
import OperationsTesting

// The visible state of operations and queues, compared with the reference.
extension ManualRun {
    /// Compares the visible state of operations and queues with the reference, and passes the ended operations to the
    /// reference.
    func observe(except starting: Int? = nil) {
        guard difference == nil else { return }
        reference.now = Int(clock.now.offset / .milliseconds(1))
        // Delays and ends are first, because they may permit the start of another operation, or the end of a cancelled one.
        for number in operations.indices where number != starting { observeDelay(number) }
        for number in operations.indices where number != starting { observeEnd(number) }
        for number in operations.indices where number != starting { observeState(number) }
        reference.passPrioritiesOn()
        reference.noteReadiness()
        for (number, queue) in queues.enumerated() {
            let line = reference.queues[number].line.compactMap(\.operation)
            let listed = queue.lister.listedOperations
            if listed.count != line.count || zip(listed, line).contains(where: { $0 !== operations[$1] }) {
                fail("queue \(number) lists \(listed.map { $0.name! }), not \(line)")
            }
        }
    }

    func observeDelay(_ number: Int) {
        guard reference.operations[number].delay != nil, !operations[number].isExecuting,
            !operations[number].isFinished, reference.beginsDelay(number)
        else { return }
        note("delay of", number)
    }

    func observeEnd(_ number: Int) {
        let phase = reference.operations[number].phase
        guard phase != .ended, operations[number].isFinished else { return }
        observeCancellation(number)
        if phase == .running {
            let isClosed = hasReturned.contains(number) || operations[number].isCancelled
            if !isClosed { fail("operation \(number) ended while its work ran") }
        } else if !operations[number].isCancelled {
            fail("operation \(number) ended without having run")
        } else if let obstacle = reference.obstacle(number) {
            fail("the cancelled operation \(number) ended although \(obstacle)")
        } else if let starved = reference.starves(by: number) {
            fail(starved)
        }
        reference.ended(number)
        note("end of", number)
    }

    func observeState(_ number: Int) {
        let phase = reference.operations[number].phase
        guard phase != .ended else { return }
        observeCancellation(number)
        let isExecuting = operations[number].isExecuting
        if isExecuting, phase != .running { start(number) }
        if !isExecuting, phase == .running { fail("operation \(number) does not execute any more") }
    }

    func observeCancellation(_ number: Int) {
        let isCancelled = operations[number].isCancelled
        let wasCancelled = reference.operations[number].isCancelled
        if wasCancelled, !isCancelled { fail("operation \(number) is not cancelled") }
        guard isCancelled, !wasCancelled else { return }
        if !isOverTime(number), !hasFailedCondition(number), !hasFailedDependency(number) {
            fail("operation \(number) is cancelled for no reason")
        }
        reference.operations[number].isCancelled = true
    }

    func isOverTime(_ number: Int) -> Bool {
        let (plan, operation) = (program.plans[number], reference.operations[number])
        guard operation.queue != nil, operation.phase == .waiting || operation.phase == .running else { return false }
        if let deadline = plan.deadline, deadline <= reference.now { return true }
        guard let timeout = plan.timeout, operation.phase == .running || operation.hasBegun else { return false }
        return operation.startTime + timeout <= reference.now
    }

    func hasFailedCondition(_ number: Int) -> Bool {
        if case .fails = program.plans[number].condition {
            reference.operations[number].testing == .nothing
        } else {
            false
        }
    }

    func hasFailedDependency(_ number: Int) -> Bool {
        program.plans[number].failurePolicy != .runAnyway && reference.operations[number].queue != nil
            && reference.operations[number].dependencies.contains {
                switch operations[$0].operationOutcome {
                case .succeeded, nil: false
                case .failed, .cancelled: true
                }
            }
    }

    func start(_ number: Int) {
        guard difference == nil else { return }
        if let obstacle = reference.obstacle(number) { return fail("operation \(number) starts although \(obstacle)") }
        if let other = reference.overtaken(by: number) { fail("operation \(number) starts before \(other)") }
        if !reference.operations[number].isCancelled {
            if hasFailedCondition(number) { fail("operation \(number) starts though its condition failed") }
            if hasFailedDependency(number) { fail("operation \(number) starts though a dependency failed") }
        }
        if let starved = reference.starves(by: number) { fail(starved) }
        reference.started(number)
        note("start of", number)
    }
}

/// Reads properties that are deprecated because of races, without a warning. Here one thread does everything.
private protocol Lister { var listedOperations: [Operation] { get } }

extension OperationQueue: Lister {
    @available(*, deprecated)
    fileprivate var listedOperations: [Operation] { operations }

    fileprivate var lister: any Lister { self }
}
