import Operations
import TestSupport
import Testing

/// Rule N3: reports of large queues.
@Suite(.timeLimit(.minutes(2))) struct StallSizeTests {
    @Test func `a report in words lists the operations that wait for the same reason once`() {
        let queue = OperationQueue()
        queue.isSuspended = true
        let operations = (0..<1000).map { Operation(named: "\($0)") }
        queue.addOperations(operations, waitUntilFinished: false)
        let report = queue.stallReport()!
        #expect(report.blocked.count == 1000)
        let lines = report.description.split(separator: "\n")
        #expect(lines.count == 2 && lines[1].hasPrefix("  Operation '0': "))
        #expect(lines[1].hasSuffix("; the same applies to 999 other operations"))
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `an explanation in words lists some reasons and counts the rest`() {
        let (queue, waiting) = (OperationQueue(), Operation(named: "waiting"))
        let dependencies = (0..<100).map { Operation(named: "\($0)") }
        for dependency in dependencies { waiting.addDependency(dependency) }
        queue.addOperation(waiting)
        let explanation = queue.explain(waiting)
        #expect(explanation.reasons.count == 100)
        #expect(explanation.description.hasSuffix("; and 95 more") && explanation.description.count < 1000)
        waiting.cancel()
        waiting.waitUntilFinished()
        let path = (0..<1000).map { "\($0)" } + ["0"]
        #expect(WaitingReason.cycle(path).description.hasSuffix("8 → 9 → (990 more) → 0"))
    }

    /// It would take hours if each operation were visited again for each other one.
    @Test(.tags(.slow))
    func `a long chain, a long cycle and a long queue behind a barrier are reported in linear time`() {
        let queue = OperationQueue()
        queue.isSuspended = true
        let count = Stress.rounds(10_000, least: 1_000)
        let chain = (0..<count).map { _ in Operation() }
        for index in 1..<chain.count { chain[index].addDependency(chain[index - 1]) }
        let ring = (0..<count).map { _ in Operation() }
        for index in ring.indices { ring[index].addDependency(ring[(index + 1) % ring.count]) }
        queue.addOperations(chain + ring, waitUntilFinished: false)
        queue.addBarrierBlock {}
        for _ in 0..<count { queue.addOperation {} }
        #expect(queue.stallReport()?.blocked.count == 3 * count)
        #expect(queue.snapshot().waitingReasons[.barrier] == count)
        queue.cancelAllOperations()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
    }
}
