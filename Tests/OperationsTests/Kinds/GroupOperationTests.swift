import Operations
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct GroupOperationTests {
    private final class Careless: GroupOperation, @unchecked Sendable {
        struct Failure: Error {}
        let fails: Bool
        init(fails: Bool) {
            self.fails = fails
            super.init()
        }
        override func run() async throws { if fails { throw Failure() } }
    }

    @Test func `a group that never calls super cancels its children, ends, and refuses later children`() async {
        for fails in [false, true] {
            let group = Careless(fails: fails)
            let child = group.addChildTask {}
            OperationQueue().addOperation(group)
            await group.waitUntilFinished()
            await child.waitUntilFinished()
            #expect(child.isCancelled)
            #expect(throws: OperationError.self) { try group.tryAddChild(BlockOperation {}) }
        }
    }

    @Test func `children start when their group starts, and the group finishes after the last child`() async {
        let queue = OperationQueue()
        let log = Journal<String>()
        let dependency = BlockOperation { log.append("dependency") }
        let first = BlockOperation { log.append("first") }
        let second = TaskOperation {
            await Task.yield()
            log.append("second")
        }
        second.addDependency(first)
        let group = GroupOperation { [second, first] }
        group.addDependency(dependency)
        let after = BlockOperation { log.append("after") }
        after.addDependency(group)
        await queue.addOperations([after, group, dependency], waitUntilFinished: true)
        #expect(log.entries == ["dependency", "first", "second", "after"])
        #expect(group.operationOutcome.described == "succeeded")
    }

    @Test func `an empty group finishes when it is started`() async {
        let group = GroupOperation()
        await OperationQueue().addOperations([group], waitUntilFinished: true)
        #expect(group.operationOutcome.described == "succeeded")
    }

    @Test func `children add children, and the group waits for these too`() async {
        let queue = OperationQueue()
        for _ in 0..<100 {
            let count = Guarded(0)
            let group = GroupOperation()
            group.addChildTask {
                for _ in 0..<5 {
                    await Task.yield()
                    group.addChildTask {
                        await Task.yield()
                        count.withLock { $0 += 1 }
                        group.addChild(BlockOperation { count.withLock { $0 += 1 } })
                    }
                }
            }
            await queue.addOperations([group], waitUntilFinished: true)
            if count.withLock({ $0 }) != 10 { Issue.record("\(count.withLock { $0 }) of 10") }
            #expect(throws: OperationError.self) { try group.tryAddChild(BlockOperation {}) }
        }
    }

    @Test func `a group in a serial queue runs several children at a time and holds one slot`() async {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let meeting = AsyncGate(3)
        let group = GroupOperation()
        for _ in 0..<3 {
            group.addChildTask {
                meeting.open()
                await meeting.pass()
            }
        }
        let other = TaskOperation {}
        queue.addOperation(group)
        queue.addOperation(other)
        await other.waitUntilFinished()
        #expect(group.isFinished)
    }

    @Test func `width limits the children`() async {
        let counter = ConcurrencyCounter()
        let group = GroupOperation()
        group.maxConcurrentOperationCount = 2
        for _ in 0..<50 {
            group.addChildTask {
                counter.enter()
                await Task.yield()
                counter.leave()
            }
        }
        await OperationQueue().addOperations([group], waitUntilFinished: true)
        #expect(counter.most <= 2 && counter.total == 50)
    }

    @Test func `cancelling a group cancels its children, whether it waits or runs`() async {
        let queue = OperationQueue()
        let begins = AsyncGate(2)
        let running = GroupOperation()
        for _ in 0..<2 {
            running.addChildTask {
                begins.open()
                while !Task.isCancelled { await Task.yield() }
            }
        }
        queue.addOperation(running)
        await begins.pass()
        running.cancel()
        await running.waitUntilFinished()
        #expect(running.operationOutcome.described == "was cancelled")

        let child = CountingOperation()
        let waiting = GroupOperation { [child] }
        waiting.addDependency(Operation())
        queue.addOperation(waiting)
        waiting.cancel()
        await waiting.waitUntilFinished()
        await child.waitUntilFinished()
        #expect(child.isCancelled && child.runCount == 0)
    }

    @Test func `fail fast cancels the others and fails with the error`() async {
        let group = GroupOperation(policy: .failFast)
        let endless = group.addChildTask { while !Task.isCancelled { await Task.yield() } }
        group.addChildTask { throw Failure.expected }
        await OperationQueue().addOperations([group], waitUntilFinished: true)
        #expect(endless.isCancelled && !group.isCancelled)
        #expect(group.operationOutcome.error as? Failure == .expected)
    }

    @Test func `supervising runs all and collects the failures`() async {
        let group = GroupOperation(policy: .waitForAll)
        let fine = group.addChildTask { 1 }
        group.addChildTask(name: "one") { throw Failure.expected }
        group.addChildTask(name: "two") { throw Failure.other }
        await OperationQueue().addOperations([group], waitUntilFinished: true)
        #expect(fine.operationOutcome.described == "succeeded")
        let failure = group.operationOutcome.error as? GroupFailure
        #expect(Set(failure?.failures.map { $0.error as? Failure } ?? []) == [.expected, .other])
    }

    @Test func `the first success wins and cancels the others`() async {
        let group = GroupOperation(policy: .firstSuccess)
        let endless = group.addChildTask { while !Task.isCancelled { await Task.yield() } }
        group.addChildTask { throw Failure.expected }
        let winner = group.addChildTask { "won" }
        await OperationQueue().addOperations([group], waitUntilFinished: true)
        #expect(endless.isCancelled && winner.operationOutcome.described == "succeeded")
        #expect(group.operationOutcome.described == "succeeded")

        let cancelled = GroupOperation(policy: .firstSuccess)
        for _ in 0..<2 { cancelled.addChildTask { throw CancellationError() } }
        await OperationQueue().addOperations([cancelled], waitUntilFinished: true)
        #expect(cancelled.operationOutcome.error is GroupFailure)

        let losers = GroupOperation(policy: .firstSuccess)
        for _ in 0..<3 { losers.addChildTask { throw Failure.expected } }
        await OperationQueue().addOperations([losers], waitUntilFinished: true)
        #expect((losers.operationOutcome.error as? GroupFailure)?.failures.count == 3)
    }

    @Test func `groups contain groups`() async {
        let log = Journal<Int>()
        func nest(_ depth: Int) -> Operation {
            guard depth > 0 else { return BlockOperation { log.append(0) } }
            return GroupOperation { [nest(depth - 1), nest(depth - 1)] }
        }
        await OperationQueue().addOperations([nest(6)], waitUntilFinished: true)
        #expect(log.entries.count == 64)
    }

    @Test func `a child that is refused is left alone`() async {
        let other = OperationQueue.suspended()
        let child = CountingOperation()
        other.addOperation(child)
        let group = GroupOperation()
        group.cancel()
        #expect(throws: OperationError.self) { try group.tryAddChild(child) }
        #expect(!child.isCancelled)
        other.isSuspended = false
        await other.waitUntilAllOperationsAreFinished()
    }

    @Test func `a group that was cancelled before it starts finishes after its children, which do not run`() async {
        let queue = OperationQueue()
        for _ in 0..<300 {
            let children = (0..<5).map { _ in CountingOperation() }
            let group = GroupOperation { Array(children.prefix(4)) }
            let adder = TestThread { try? group.tryAddChild(children[4]) }
            group.cancel()
            queue.addOperation(group)
            await group.waitUntilFinished()
            #expect(children.prefix(4).allSatisfy { $0.isFinished && $0.runCount == 0 })
            adder.join()
        }
    }

    @Test func `a child of a group that has started, but not its children yet, is not reported as paused`() async throws
    {
        final class Late: GroupOperation, @unchecked Sendable {
            let (begun, mayGoOn) = (AsyncGate(), AsyncGate())
            override func run() async throws {
                begun.open()
                await mayGoOn.pass()
                try await super.run()
            }
        }
        let (queue, group, child) = (OperationQueue(), Late(), BlockOperation {})
        group.addChild(child)
        queue.addOperation(group)
        await group.begun.pass()
        #expect(!queue.explain(child).reasons.contains { if case .paused = $0 { true } else { false } })
        group.pause()
        #expect(queue.explain(child).reasons.contains { if case .paused = $0 { true } else { false } })
        group.resume()
        group.mayGoOn.open()
        await group.waitUntilFinished()
    }

    @Test func `a group is not its own child, and a child that depends on its group is reported as a cycle`() async {
        let group = GroupOperation()
        group.name = "ring"
        #expect(throws: OperationError.self) { try group.tryAddChild(group) }
        let queue = OperationQueue()
        let child = BlockOperation {}
        child.name = "child"
        child.addDependency(group)
        group.addChild(child)
        queue.addOperation(group)
        while !group.isExecuting { await Task.yield() }
        let reasons = queue.explain(child).reasons
        #expect(
            reasons.contains {
                if case .cycle(let path) = $0 { path.count == 3 } else { false }
            }, "\(reasons)")
        child.cancel()
        await group.waitUntilFinished()
    }

    @Test func `a group that is released without having run releases its children`() async {
        var child: CountingOperation? = CountingOperation()
        let weakChild = Weak(child)
        var group: GroupOperation? = GroupOperation { [child!] }
        let weakGroup = Weak(group)
        group = nil
        await child!.waitUntilFinished()
        child = nil
        await weakGroup.goes()
        await weakChild.goes()
        #expect(weakGroup.isGone && weakChild.isGone)
    }

    @Test(arguments: [GroupOperation.Policy.firstSuccess, .failFast])
    func `the child that decides is not cancelled, and each other child is cancelled once`(
        policy: GroupOperation.Policy
    ) async {
        let group = GroupOperation(policy: policy)
        let (decides, waits) = (CancelCounter(), CancelCounter())
        for child in [waits, decides] { group.addChild(child) }
        OperationQueue().addOperation(group)
        await waits.hasBegun.pass()
        await decides.hasBegun.pass()
        if case .failFast = policy { decides.reportFailure(Failure.expected) }
        decides.mayEnd.open()
        await group.waitUntilFinished()
        #expect(decides.calls.entries.count == 0 && waits.calls.entries.count == 1)
    }

    @Test func `an operation that a child adds to its current queue after the cancellation does not run`() async {
        let ran = Journal<Int>()
        let (hasBegun, mayAdd) = (AsyncGate(), AsyncGate())
        let group = GroupOperation {
            [
                TaskOperation {
                    hasBegun.open()
                    await mayAdd.pass()
                    OperationQueue.current?.addOperation { ran.append(0) }
                }
            ]
        }
        OperationQueue().addOperation(group)
        await hasBegun.pass()
        group.cancel()
        mayAdd.open()
        await group.waitUntilFinished()
        #expect(ran.entries.isEmpty)
    }

    @Test func `a child that only overrides isCancelled is cancelled once`() async {
        final class OwnFlag: Operation, @unchecked Sendable {
            let calls = Journal<Int>()
            override var isCancelled: Bool { !calls.entries.isEmpty }
            override func cancel() { calls.append(0) }
        }
        let (group, child) = (GroupOperation(), OwnFlag())
        group.maxConcurrentOperationCount = 1
        group.addChildTask { throw Failure.expected }
        group.addChild(child)
        await OperationQueue().addOperations([group], waitUntilFinished: true)
        #expect(child.calls.entries.count == 1)
    }

    @Test func `a subclass of a group or a retry is called once when its work is skipped`() async {
        final class Group: GroupOperation, @unchecked Sendable {
            let skips = Journal<Int>()
            override func runWasSkipped() { skips.append(0) }
        }
        final class Retry: RetryOperation, @unchecked Sendable {
            let skips = Journal<Int>()
            override func runWasSkipped() { skips.append(0) }
        }
        let group = Group()
        let retry = Retry(
            RetryPolicy(retries: 0), clock: ContinuousClock(), random: SystemRandomNumberGenerator()
        ) { _ in BlockOperation {} }
        let queue = OperationQueue()
        queue.isSuspended = true
        for operation in [group, retry] as [AsyncOperation] {
            queue.addOperation(operation)
            operation.cancel()
        }
        queue.isSuspended = false
        await queue.waitUntilAllOperationsAreFinished()
        #expect(group.skips.entries.count == 1 && retry.skips.entries.count == 1)
    }

    /// Rules Q9, Q13: the current queue of a child is the queue of the children.
    @Test func `an operation that a child adds to its current queue counts as a child`() async {
        let queue = OperationQueue()
        let (mayEnd, addedMayEnd, isAdded) = (AsyncGate(), AsyncGate(), AsyncGate())
        let added = TaskOperation { await addedMayEnd.pass() }
        let group = GroupOperation {
            [
                BlockOperation {
                    let plain = BlockOperation {}
                    OperationQueue.current?.addOperation(plain)
                    plain.waitUntilFinished()
                    OperationQueue.current?.addOperation(added)
                    isAdded.open()
                },
                TaskOperation { await mayEnd.pass() },
            ]
        }
        queue.addOperation(group)
        await isAdded.pass()
        #expect(!group.isFinished)
        mayEnd.open()
        await group.childQueue.addTask {}.waitUntilFinished()
        #expect(!group.isFinished && group.childCounts.added == 5)
        addedMayEnd.open()
        await group.waitUntilFinished()
        #expect(added.isFinished && group.childCounts.ended == 5)
    }
}

/// Counts the calls of its `cancel()`.
private final class CancelCounter: AsyncOperation, @unchecked Sendable {
    let (hasBegun, mayEnd) = (AsyncGate(), AsyncGate())
    let calls = Journal<Int>()

    override func run() async throws {
        hasBegun.open()
        await mayEnd.pass()
    }

    override func cancel() {
        super.cancel()
        calls.append(0)
        mayEnd.open()
    }
}
