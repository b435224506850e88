import WorkflowTestSupport
import Testing

@testable import WorkflowEngine

struct BudgetTests {
    @Test(arguments: [
        (60, 7, [20], 13), (60, 0, [20], 15), (8, 7, [4], 1), (0, 7, [4], 1), (60, 7, [2, 20], 12), (900, 7, [20], 20),
    ])
    func `processes and the threads of queues limit the number of commands to at least one`(
        free: Int, threads: Int, limits: [Int], commands: Int
    ) {
        #expect(ProcessBudget(free: free, threads: threads, limits: limits, most: 20).commands == commands)
    }

    @Test func `the least limit of descriptors is enough for one command, and one less is not`() {
        let least = DescriptorBudget(limit: 0, open: 16).leastLimit
        #expect(DescriptorBudget(limit: least, open: 16).commands == 1)
        #expect(DescriptorBudget(limit: least - 1, open: 16).commands == 0)
    }

    @Test func `the pauses between checks double up to the longest`() {
        var life = ProcessLife(grace: .seconds(2))
        let start = ContinuousClock.now
        _ = life.leaderEnded(at: start)
        var now = start
        let pauses = (0..<8).map { _ in
            _ = life.looked(isAlive: true, at: now)
            let last = now
            now = life.nextInstant ?? now
            return now - last
        }
        #expect(pauses == [1, 2, 4, 8, 16, 20, 20, 20].map { .milliseconds($0) })
    }

    @Test func `each shortage is reported once`() {
        let reported = Journal<String>()
        let ledger = RunLedger(operationCount: 0) { event in
            if case .short(let text) = event { reported.append(text) }
            return true
        }
        for shortage in [Shortage.memory, .memory, .space(directory: "/tmp"), .memory] { ledger.note(shortage) }
        #expect(ledger.allConclusions(of: []).isEmpty)
        #expect(reported.entries == ["no memory is left", "no space is left in '/tmp'"])
    }

    @Test func `hundredths of a second have two digits`() {
        #expect(
            [90, 9, 1, 1994, 10_500].map { Duration.milliseconds($0).seconds } == [
                "0.09s", "0.01s", "0.00s", "1.99s", "10.50s",
            ])
    }
}
