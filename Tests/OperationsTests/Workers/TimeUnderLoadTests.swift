@testable import Operations
import Synchronization
import TestSupport
import Testing

/// Rule A8: timers and policies also act while all threads that a queue may have compute.
@Suite(.timeLimit(.minutes(2)), .serialized, .tags(.threads)) struct TimeUnderLoadTests {
    @Test func `timers fire while every processor computes`() {
        // Not on a thread of the tests' own pool, on which other tests wait.
        TestThread { Self.passTime() }.join()
    }

    #if os(Linux)
    @Test(.tags(.ordinaryConditions)) func `timers fire while the only processor computes`() async {
        await #expect(processExitsWith: .success) {
            precondition(useOneProcessor() && Processor.count == 1)
            TimeUnderLoadTests.passTime()
        }
    }
    #endif

    @Test func `sources of time and policies get a worker regardless of the number of workers`() {
        var state = WorkerPool.State()
        for urgency in [Urgency.shared, .eager] { state[urgency].busy = 1000 }
        #expect(!state.mayGrant(.shared) && !state.mayGrant(.eager) && state.mayGrant(.prompt))
        // Their own workers run slow work: one more worker at each look, up to a limit.
        state[.prompt].busy = Processor.count
        #expect(!state.mayGrant(.prompt))
        let source = IdleSource()
        state.append(.init(source))
        for looks in 1...200 {
            _ = state.survey()
            state[.prompt].busy = Processor.count + min(looks, WorkerPool.eagerLimit) - 1
            #expect(state.mayGrant(.prompt))
            state[.prompt].busy += 1
            #expect(!state.mayGrant(.prompt))
        }
        state[.prompt].busy = 0
        #expect(state.takeRequest()?.source === source && state.requestCount == 0)
        state[.prompt].busy = Processor.count
        _ = state.survey()
        #expect(!state.mayGrant(.prompt))
    }

    @Test func `the next request waits for one look of the monitor, regardless of earlier slow workers`() {
        var state = WorkerPool.State()
        for surplus in [0, 1, 5, WorkerPool.eagerLimit - 1] {
            state[.prompt].busy = Processor.count + surplus
            _ = state.survey()
            #expect(!state.mayGrant(.prompt))
            state.append(.init(IdleSource()))
            _ = state.survey()
            #expect(state.mayGrant(.prompt))
            #expect(state.takeRequest() != nil)
        }
    }

    @Test func `slow workers that end or block no longer count in the allowance`() {
        var state = WorkerPool.State()
        state[.prompt].busy = Processor.count + 10
        _ = state.survey()
        state[.prompt].blocked = 4
        #expect(state.mayGrant(.prompt))
        _ = state.survey()
        #expect(!state.mayGrant(.prompt))
        state[.prompt].blocked = 0
        state[.prompt].busy = Processor.count
        _ = state.survey()
        #expect(!state.mayGrant(.prompt))
        state[.prompt].busy -= 1
        #expect(state.mayGrant(.prompt))
    }

    @Test func `requests are served in order, except requests that may not be granted`() {
        var state = WorkerPool.State()
        let sources = [Urgency.shared, .eager, .prompt, .shared, .prompt].map(IdleSource.init)
        for source in sources { state.append(.init(source)) }
        let all = Urgency.allCases
        let granted: [[Urgency]] = [[.prompt], all, [.eager, .prompt], all, [.eager, .prompt]]
        let served = granted.map { granted in
            for urgency in all { state[urgency].busy = granted.contains(urgency) ? 0 : 10_000 }
            return state.takeRequest()?.source
        }
        let expected = [sources[2], sources[0], sources[1], sources[3], sources[4]]
        #expect(zip(served, expected).allSatisfy { $0 === $1 } && state.requestCount == 0)
    }

    /// Computes until all timed events have happened, on the threads of a level that other tests do not use.
    private static func passTime() {
        do { try tryPassTime() } catch { Issue.record(error) }
    }

    private static func tryPassTime() throws {
        let isOver = Atomic(false)
        let computing = makeQueue(isSerial: false)
        let started = Gate(Processor.count)
        for _ in 0..<Processor.count {
            computing.addOperation {
                started.open()
                while !isOver.load(ordering: .relaxed) {}
            }
        }
        started.pass()

        let limited = HeldUntilCancelled()
        limited.setTimeout(.milliseconds(5))
        let apart = makeQueue(isSerial: true)
        // The time limit may pass before `main` begins, so nothing here waits for its beginning.
        apart.addOperation(limited)

        let suspended = makeQueue(isSerial: true)
        let stall = Gate()
        suspended.stallHandler = { _ in stall.open() }
        suspended.stallDelay = .milliseconds(5)
        suspended.isSuspended = true
        let late = BlockOperation {}
        late.setDeadline(ContinuousClock.now.advanced(by: .milliseconds(5)), clock: ContinuousClock())
        let isLate = Gate()
        late.addDependency(Operations.Operation())
        let token = late.observe(\.isCancelled) { _, _ in isLate.open() }
        suspended.addOperation(late)

        let gated = BlockOperation {}
        gated.addCondition(
            OperationCondition("tested") { _ in
                try await ContinuousClock().sleep(for: .milliseconds(5))
            })
        makeQueue(isSerial: true).addOperation(gated)

        let limiting = makeQueue(isSerial: true)
        limiting.setRateLimit(.tokenBucket(1, per: .milliseconds(5)))
        for _ in 0..<5 { limiting.addOperation {} }
        // Serial queues do not wait for a computing queue with the default limit.
        limiting.waitUntilAllOperationsAreFinished()
        gated.waitUntilFinished()
        stall.pass()
        isLate.pass()
        apart.waitUntilAllOperationsAreFinished()
        isOver.store(true, ordering: .relaxed)
        token.invalidate()
        suspended.isSuspended = false
        for queue in [computing, suspended] { queue.waitUntilAllOperationsAreFinished() }
    }

    private static func makeQueue(isSerial: Bool) -> OperationQueue {
        let queue = OperationQueue()
        queue.qualityOfService = .utility
        if isSerial { queue.maxConcurrentOperationCount = 1 }
        return queue
    }
}

private final class IdleSource: WorkSource {
    let urgency: Urgency
    let threadName: String? = nil

    init(_ urgency: Urgency = .prompt) { self.urgency = urgency }

    func work(on worker: Worker) {}
}

/// Computes until it is cancelled.
private final class HeldUntilCancelled: Operations.Operation, @unchecked Sendable {
    override func main() {
        while !isCancelled {}
    }
}
