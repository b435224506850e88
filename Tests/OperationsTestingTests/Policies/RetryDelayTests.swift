import Operations
import OperationsTesting
import TestSupport
import Testing

/// Rules N1, A12: a retry operation between two attempts is one of the waiting operations of its queue.
@Suite(.timeLimit(.minutes(5))) struct RetryDelayTests {
    private let executor = ManualExecutor()
    private let clock = VirtualClock()
    private let log = Journal<String>()

    /// A retry operation whose first attempt fails, and whose delay takes ten seconds.
    private func makeRetry(_ name: String = "attempt") -> RetryOperation {
        let policy = RetryPolicy(retries: 1, backoff: .constant(.seconds(10)), jitter: .none)
        let retry = RetryOperation(policy, clock: clock) { [log] number in
            BlockOperation.failing(if: number == 1) { log.append("\(name) \(number)") }
        }
        retry.name = name
        return retry
    }

    private func block(_ name: String) -> BlockOperation { BlockOperation { [log] in log.append(name) } }

    private func runBefore(_ seconds: Int) {
        executor.run(until: .init(offset: .seconds(seconds) - .nanoseconds(1)), of: clock)
    }

    // MARK: - The slot

    @Test func `the next attempt waits for a slot, which another operation has`() {
        let queue = executor.makeQueue(maxConcurrentOperationCount: 1)
        let (retry, clock) = (makeRetry(), clock)
        queue.addOperation(retry)
        queue.addTask(name: "long") { try await clock.sleep(for: .seconds(30)) }
        runBefore(30)
        #expect(log.entries == ["attempt 1"] && !retry.isExecuting)
        guard case .slot(_, limit: 1, heldBy: let holders)? = queue.explain(retry).reasons.first else {
            Issue.record("\(queue.explain(retry))")
            return
        }
        #expect(holders.map(\.operation) == [queue.explain().executing.first?.operation])
        executor.runUntilIdle(advancing: clock)
        #expect(log.entries == ["attempt 1", "attempt 2"] && clock.now.offset == .seconds(30))
    }

    @Test func `of thousands of retry operations with a delay, four attempts at a time are made, and all of them`() {
        let queue = executor.makeQueue(maxConcurrentOperationCount: 4)
        let count = Stress.rounds(10_000, small: 1000)
        let (clock, counts) = (clock, Guarded((now: 0, most: 0, attempts: 0, others: 0)))
        let policy = RetryPolicy(retries: 1, backoff: .constant(.seconds(1)), jitter: .none)
        let retries = (0..<count).map { _ in
            RetryOperation(policy, clock: clock) { number in
                TaskOperation {
                    let attempt = counts.withLock { counts in
                        counts.now += 1
                        counts.attempts += 1
                        counts.most = max(counts.most, counts.now)
                        return counts.attempts
                    }
                    // A snapshot looks at all operations.
                    let executing = attempt % 1000 == 0 ? queue.snapshot(measures: false).executing : 4
                    if executing > 4 { counts.withLock { $0.others += 1 } }
                    try await clock.sleep(for: .milliseconds(1))
                    counts.withLock { $0.now -= 1 }
                    if number == 1 { throw Failed() }
                }
            }
        }
        for retry in retries { queue.addOperation(retry) }
        executor.runUntilIdle(advancing: clock, limit: 10_000_000)
        #expect(counts.withLock { [$0.attempts, $0.most, $0.others] } == [2 * count, 4, 0])
        #expect(retries.allSatisfy { $0.operationOutcome == .succeeded })
    }

    @Test func `a limit of zero that is set during a delay holds the next attempt back`() {
        let (queue, retry) = (executor.makeQueue(name: "q"), makeRetry())
        queue.addOperation(retry)
        executor.runUntilIdle()
        queue.maxConcurrentOperationCount = 0
        executor.runUntilIdle(advancing: clock)
        #expect(log.entries == ["attempt 1"] && queue.explain(retry).reasons == [.limitZero(queue: "q")])
        queue.maxConcurrentOperationCount = 1
        executor.runUntilIdle()
        #expect(log.entries == ["attempt 1", "attempt 2"] && retry.operationOutcome == .succeeded)
    }

    @Test func `a suspension of the queue during a delay holds the next attempt back`() {
        let (queue, retry) = (executor.makeQueue(name: "q"), makeRetry())
        queue.addOperation(retry)
        executor.runUntilIdle()
        queue.isSuspended = true
        executor.runUntilIdle(advancing: clock)
        #expect(log.entries == ["attempt 1"] && queue.explain(retry).reasons == [.queueSuspended(queue: "q")])
        queue.isSuspended = false
        executor.runUntilIdle()
        #expect(log.entries == ["attempt 1", "attempt 2"] && retry.operationOutcome == .succeeded)
    }

    @Test func `a pause during a delay holds the next attempt back, and a resume does not shorten the delay`() {
        let (queue, retry) = (executor.makeQueue(name: "q"), makeRetry())
        queue.addOperation(retry)
        executor.runUntilIdle()
        retry.pause()
        retry.resume()
        runBefore(10)
        #expect(log.entries == ["attempt 1"])
        retry.pause()
        executor.runUntilIdle(advancing: clock)
        #expect(log.entries == ["attempt 1"] && queue.explain(retry).reasons == [.paused])
        retry.resume()
        executor.runUntilIdle()
        #expect(log.entries == ["attempt 1", "attempt 2"] && retry.operationOutcome == .succeeded)
    }

    // MARK: - Resources and order

    @Test func `units and exclusive names are free during a delay, and each attempt has them again`() {
        let (queue, pool) = (executor.makeQueue(), ResourcePool(["units": 1]))
        let (retry, other, clock) = (makeRetry(), block("other"), clock)
        let long = TaskOperation { try await clock.sleep(for: .seconds(20)) }
        for operation in [retry, other, long] {
            operation.addRequirement(.exclusive("RetryDelayTests"))
            operation.addRequirement(.units(1, of: "units", in: pool))
            queue.addOperation(operation)
        }
        runBefore(20)
        #expect(log.entries == ["attempt 1", "other"] && long.isExecuting && !retry.isExecuting)
        executor.runUntilIdle(advancing: clock)
        #expect(log.entries == ["attempt 1", "other", "attempt 2"] && clock.now.offset == .seconds(20))
    }

    @Test func `each attempt takes a permit of the rate`() {
        let queue = executor.makeQueue()
        queue.setRateLimit(.slidingWindow(1, per: .seconds(25)), clock: clock)
        queue.addOperation(makeRetry())
        runBefore(25)
        #expect(log.entries == ["attempt 1"])
        executor.runUntilIdle(advancing: clock)
        #expect(log.entries == ["attempt 1", "attempt 2"] && clock.now.offset == .seconds(25))
    }

    @Test func `a barrier and a dependent wait for the last attempt`() {
        let (queue, retry, dependent, log) = (executor.makeQueue(), makeRetry(), block("dependent"), log)
        dependent.addDependency(retry)
        queue.addOperation(retry)
        queue.addBarrierBlock { log.append("barrier") }
        queue.addOperation(dependent)
        queue.addOperation(block("after the barrier"))
        runBefore(10)
        #expect(log.entries == ["attempt 1"])
        executor.runUntilIdle(advancing: clock)
        #expect(log.entries.prefix(3) == ["attempt 1", "attempt 2", "barrier"] && log.entries.count == 5)
    }

    @Test func `a retry in a group gives its slot in the group to other children`() {
        let (queue, group, retry) = (executor.makeQueue(), GroupOperation(), makeRetry())
        group.maxConcurrentOperationCount = 1
        group.addChild(retry)
        group.addChild(block("child"))
        queue.addOperation(group)
        runBefore(10)
        #expect(log.entries == ["attempt 1", "child"] && group.isExecuting)
        executor.runUntilIdle(advancing: clock)
        #expect(log.entries == ["attempt 1", "child", "attempt 2"] && group.operationOutcome == .succeeded)
    }

    // MARK: - The end

    @Test func `the time limit of a retry includes its delays, and a deadline ends it during a delay`() {
        for isDeadline in [false, true] {
            let (queue, retry, clock) = (executor.makeQueue(), makeRetry(), VirtualClock())
            if isDeadline {
                retry.setDeadline(.init(offset: .seconds(4)), clock: clock)
            } else {
                retry.setTimeout(.seconds(4), clock: clock)
            }
            queue.addOperation(retry)
            executor.runUntilIdle(advancing: clock)
            guard case .failed(let error)? = retry.operationOutcome else {
                Issue.record("\(retry.operationOutcome as Any)")
                return
            }
            #expect(error as? OperationTimeout == (isDeadline ? .deadline : .timeout(.seconds(4))))
            #expect(clock.now.offset == .seconds(4))
        }
        #expect(log.entries == ["attempt 1", "attempt 1"] && clock.sleeperCount == 0)
    }

    @Test func `tasks that wait for the retry or its queue wait through the delay`() {
        let (queue, retry, log) = (executor.makeQueue(), makeRetry(), log)
        queue.addOperation(retry)
        executor.task {
            await retry.waitUntilFinished()
            log.append("retry has finished")
        }
        executor.task {
            await queue.waitUntilAllOperationsAreFinished()
            log.append("queue is empty")
        }
        runBefore(10)
        #expect(log.entries == ["attempt 1"])
        executor.runUntilIdle(advancing: clock)
        #expect(log.entries.prefix(2) == ["attempt 1", "attempt 2"] && log.entries.count == 4)
    }

    @Test(arguments: [5, 20])
    func `a shutdown whose grace ends during a delay cancels the retry, and a longer one lets it finish`(grace: Int) {
        let (queue, retry, clock, log) = (executor.makeQueue(), makeRetry(), clock, log)
        queue.addOperation(retry)
        executor.runUntilIdle()
        executor.task {
            let report = await queue.shutDown(grace: .seconds(grace), clock: clock)
            log.append("cancelled \(report.cancelled.count), unfinished \(report.unfinished.count)")
        }
        executor.runUntilIdle(advancing: clock)
        #expect(log.entries.contains("cancelled \(grace == 5 ? 1 : 0), unfinished 0"))
        #expect(log.entries.contains("attempt 2") == (grace == 20))
        #expect(retry.operationOutcome == (grace == 5 ? .cancelled : .succeeded))
    }

    // MARK: - Observing

    @Test func `a snapshot counts a retry between two attempts among the waiting operations`() {
        let (queue, retry) = (executor.makeQueue(name: "q"), makeRetry())
        queue.addOperation(retry)
        executor.runUntilIdle()
        let snapshot = queue.snapshot()
        #expect(snapshot.description == "'q': 0 execute, 1 wait (1 for delay)" && queue.stallReport() == nil)
    }

    @Test func `an explanation has the time that is left of the delay`() {
        let (queue, retry) = (executor.makeQueue(name: "q"), makeRetry())
        queue.addOperation(retry)
        executor.runUntilIdle()
        clock.advance(by: .milliseconds(2500))
        #expect(queue.explain(retry).reasons == [.slotReleased(for: .milliseconds(7500))])
        queue.isSuspended = true
        #expect(queue.explain(retry).reasons == [.slotReleased(for: .milliseconds(7500)), .queueSuspended(queue: "q")])
    }

    @Test func `a retry is added, started and finished once, and its time includes the delay`() {
        let (queue, retry, recorder) = (executor.makeQueue(), makeRetry(), OperationRecorder(clock))
        recorder.record(queue)
        queue.addOperation(retry)
        executor.runUntilIdle(advancing: clock)
        let events = recorder.events.map { "\($0.time) \($0.event.kind)" }
        #expect(events == ["0.0 seconds added", "0.0 seconds starts", "10.0 seconds succeeded"])
    }
}

private struct Failed: Error {}

extension BlockOperation {
    fileprivate static func failing(if fails: Bool, _ body: @escaping @Sendable () -> Void) -> BlockOperation {
        let operation = BlockOperation(block: body)
        operation.addExecutionBlock { [unowned operation] in if fails { operation.reportFailure(Failed()) } }
        return operation
    }
}
