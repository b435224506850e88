import Operations
import OperationsTesting

// The explanations of a system at rest, compared with the reference.
extension ManualRun {
    /// Nothing moves any more without a call from outside. So every operation has a reason, and a queue is stalled, unless an
    /// operation anywhere may continue.
    func compareExplanations() {
        guard difference == nil, clock.sleeperCount == 0 else { return }
        for number in operations.indices {
            guard let other = reference.operations[number].awaited else { continue }
            if reference.operations[other].phase == .ended {
                fail("operation \(number) awaits \(other), which has ended")
            }
            let reasons = explanation(of: number).reasons
            if !reasons.contains(.awaits(label(of: other))) {
                fail("operation \(number) awaits \(other), and its explanation is \(reasons)")
            }
        }
        for (number, operation) in reference.operations.enumerated() where operation.phase == .waiting {
            let explanation = explanation(of: number)
            if explanation.reasons.isEmpty { fail("nothing holds operation \(number) back, which does not start") }
        }
        let anyMayContinue = reference.operations.indices.contains { mayEnd($0) || mayBeResumed($0) }
        for (number, queue) in queues.enumerated() {
            let line = reference.queues[number].line.compactMap(\.operation)
            let report = queue.stallReport()
            if let first = line.first(where: mayEnd), report != nil {
                fail("queue \(number) is reported as stalled, and operation \(first) executes")
            }
            if !anyMayContinue, !line.isEmpty, report == nil {
                let reasons = line.map { "\(explanation(of: $0))" }
                fail("queue \(number) is at rest, and is not reported as stalled: \(reasons.joined(separator: "; "))")
            }
        }
    }

    /// Whether the operation executes, and its end depends on code outside.
    private func mayEnd(_ number: Int) -> Bool {
        reference.operations[number].phase == .running && program.plans[number].kind == .classic
    }

    /// Whether the operation is paused. Pauses are no stall, because the program is about to end them.
    private func mayBeResumed(_ number: Int) -> Bool {
        let operation = reference.operations[number]
        return [.waiting, .running].contains(operation.phase) && operation.isPaused && !operation.isCancelled
    }

    private func explanation(of number: Int) -> Explanation {
        queues[program.plans[number].queue].explain(operations[number])
    }

    private func label(of number: Int) -> String { queues[0].explain(operations[number]).operation }
}
