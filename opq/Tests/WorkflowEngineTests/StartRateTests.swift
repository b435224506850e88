import Dispatch
import Operations
import Synchronization
import WorkflowTestSupport
import Testing

@testable import WorkflowEngine

@Suite(.timeLimit(.minutes(1)))
struct StartRateTests {
    @Test func `an operation waits until the time of an earlier start is over, whether that one runs or has ended`() {
        let waits = Mutex<[@Sendable () -> Void]>([])
        let rate = StartRate(Rate(count: 2, interval: .seconds(60))) { _, action in waits.withLock { $0.append(action) }
        }
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 10
        let (started, ends) = (Journal<Int>(), DispatchSemaphore(value: 0))
        for number in 1...5 {
            let operation = BlockOperation {
                started.append(number)
                rate.started()
                rate.released()
            }
            operation.addRequirement(rate.requirement)
            operation.completionBlock = { ends.signal() }
            queue.addOperation(operation)
        }
        ends.wait()
        ends.wait()
        #expect(started.entries.count == 2)
        // The time of one start is over, each time. Any of the waiting operations may be next.
        for count in 3...5 {
            waits.withLock { $0.removeFirst() }()
            ends.wait()
            #expect(started.entries.count == count)
        }
        #expect(started.entries.sorted() == Array(1...5))
    }

    @Test func `operations that wait for a rate leave the queue to others, and a cancellation ends them`() async throws
    {
        let directory = try TemporaryDirectory()
        let text = """
            operations:
              slow: {each: [1, 2, 3], run: "true", rate: 2/1h}
              other: {run: "true"}
              last: {run: "echo > gate", after: ["slow[1]", "slow[2]", other]}
            """
        let outcomes = try await outcomes(
            of: text, in: directory, options: RunOptions(jobs: 1), whenGateOpens: { $0.cancel() })
        #expect(outcomes["slow[3]"] == .cancelled)
        #expect(["slow[1]", "slow[2]", "other"].map { outcomes[$0] } == [.succeeded, .succeeded, .succeeded])
    }

    @Test func `a command that runs again counts as a start, and a cancellation ends its wait`() async throws {
        let directory = try TemporaryDirectory()
        let text = "operations: {a: {run: 'echo x >> runs; echo > gate; exit 1', rate: 1/1h, retries: 5}}"
        let outcomes = try await outcomes(of: text, in: directory, whenGateOpens: { $0.cancel() })
        #expect(outcomes == ["a": .cancelled])
        #expect(try directory.text(of: "runs") == "x\n")
    }

    @Test func `each family has a rate of its own`() throws {
        let plan = try plan(
            of: "operations: {a: {run: x, each: [1, 2], rate: 1/1h}, b: {run: x, rate: 5/m}, c: {run: x}}")
        let resources = try RunResources(plan)
        #expect(resources.rates.keys.sorted() == ["a", "b"])
        #expect(plan.operations.map { resources.requirements(of: $0).count } == [1, 1, 1, 0])
    }

    @Test(arguments: ["0/1s", "1/0s", "1", "x/1s", "-1/1s", "1/1x", "/1s", "1/", "1e3/1s", "1/1s/1s"])
    func `a rate is a number and a time, both above zero`(text: String) {
        let complaints = complaints(about: "operations: {a: {run: x, rate: \(text)}}")
        #expect(complaints.count == 1)
        #expect(complaints.first?.contains("write a number and a time, as in 10/1m") == true)
    }
}
