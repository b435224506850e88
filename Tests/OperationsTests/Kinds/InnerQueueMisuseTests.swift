@testable import Operations
import TestSupport
import Testing

/// Rules M8 and M10: an inner operation waits for none of its outer operations, and no group contains itself.
@Suite(.timeLimit(.minutes(5))) struct InnerQueueMisuseTests {
    @Test func `two groups cannot contain each other`() throws {
        let (a, b) = (GroupOperation(), GroupOperation())
        try a.tryAddChild(b)
        #expect(throws: OperationError.self) { try b.tryAddChild(a) }
        OperationQueue().addOperations([a], waitUntilFinished: true)
        #expect(b.isFinished)
    }

    @Test func `a group cannot contain an outer group of any depth`() throws {
        let groups = (0..<100).map { _ in GroupOperation() }
        for (inner, outer) in zip(groups, groups.dropFirst()) { try outer.tryAddChild(inner) }
        for group in groups.dropLast() {
            let outer = groups[99]
            #expect(throws: OperationError.self) { try group.tryAddChild(outer) }
        }
        // A refused group does not change.
        let outermost = GroupOperation()
        try outermost.tryAddChild(groups[99])
        OperationQueue().addOperations([outermost], waitUntilFinished: true)
        let unfinished = groups.filter { !$0.isFinished }
        #expect(unfinished.isEmpty)
    }

    @Test(.tags(.threads)) func `of two threads that add two groups to each other, one is refused`() {
        for _ in 0..<300 {
            let (a, b) = (GroupOperation(), GroupOperation())
            let refusals = Journal<OperationError>()
            let meeting = Gate(2)
            let other = TestThread {
                meeting.meet()
                do throws(OperationError) { try a.tryAddChild(b) } catch { refusals.append(error) }
            }
            meeting.meet()
            do throws(OperationError) { try b.tryAddChild(a) } catch { refusals.append(error) }
            other.join()
            #expect(refusals.entries.count == 1)
        }
    }

    @Test(.tags(.threads))
    func `of two threads that add one group to two groups, one is refused, and the nesting is known`() {
        for _ in 0..<Stress.rounds(1000, least: 250) {
            let (inner, outers) = (GroupOperation(), [GroupOperation(), GroupOperation()])
            let refused = Journal<Int>()
            let meeting = Gate(2)
            @Sendable func add(_ index: Int) {
                meeting.meet()
                do throws(OperationError) { try outers[index].tryAddChild(inner) } catch { refused.append(index) }
            }
            let other = TestThread { add(1) }
            add(0)
            other.join()
            #expect(refused.entries.count == 1)
            guard let loser = refused.entries.first else { return }
            // The group that contains the inner one is refused. The other group is accepted.
            #expect(throws: OperationError.self) { try inner.tryAddChild(outers[1 - loser]) }
            #expect(throws: Never.self) { try inner.tryAddChild(outers[loser]) }
        }
    }

    @Test func `a group that a finished group has refused can contain that finished group`() throws {
        let (finished, group) = (GroupOperation(), GroupOperation())
        OperationQueue().addOperations([finished], waitUntilFinished: true)
        #expect(throws: OperationError.self) { try finished.tryAddChild(group) }
        let other = GroupOperation()
        try other.tryAddChild(group)
        #expect(throws: OperationError.self) { try group.tryAddChild(other) }
    }

    @Test(.tags(.release)) func `a group does not keep its former queue alive, and does not use it after its release`()
        async
    {
        let group = GroupOperation()
        var queue: OperationQueue? = OperationQueue()
        queue?.addOperation(group)
        await group.waitUntilFinished()
        let gone = Weak(queue)
        queue = nil
        await gone.goes()
        #expect(group.innerQueue?.queueOwner?.outerQueue == nil)
    }

    @Test func `a group that was refused twice can still be refused because of its children`() throws {
        let (a, b) = (GroupOperation(), GroupOperation())
        try a.tryAddChild(b)
        #expect(throws: OperationError.self) { try a.tryAddChild(b) }
        #expect(throws: OperationError.self) { try b.tryAddChild(a) }
    }

    enum Nesting: CaseIterable { case group, groupInGroup, retry }

    /// Runs `body` as an operation inside other operations, in a queue. Returns the outermost operation.
    private func run(_ nesting: Nesting, in queue: OperationQueue, _ body: @escaping @Sendable (Operation) -> Void)
        throws
    {
        let outermost = Journal<Operation>()
        let child = { @Sendable in BlockOperation { body(outermost.entries[0]) } }
        switch nesting {
        case .group: outermost.append(GroupOperation { [child()] })
        case .groupInGroup: outermost.append(GroupOperation { [GroupOperation { [child()] }] })
        case .retry: outermost.append(RetryOperation(RetryPolicy(retries: 0)) { _ in child() })
        }
        queue.addOperation(outermost.entries[0])
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test(arguments: Nesting.allCases)
    func `waiting for the operation around the caller is misuse`(nesting: Nesting) throws {
        let misuse = Journal<OperationError>()
        try run(nesting, in: OperationQueue()) { outermost in
            do throws(OperationError) { try outermost.tryWaitUntilFinished() } catch { misuse.append(error) }
        }
        #expect(misuse.entries.count == 1)
    }

    @Test(arguments: Nesting.allCases)
    func `waiting for all operations of the queue around the caller is misuse`(nesting: Nesting) throws {
        let (queue, misuse) = (OperationQueue(), Journal<OperationError>())
        try run(nesting, in: queue) { _ in
            do throws(OperationError) { try queue.tryWaitUntilAllOperationsAreFinished() } catch {
                misuse.append(error)
            }
        }
        #expect(misuse.entries.count == 1)
    }

    @Test(arguments: Nesting.allCases)
    func `waiting for an operation behind the caller's operation in a serial queue is misuse`(
        nesting: Nesting
    ) throws {
        let (queue, misuse) = (OperationQueue(), Journal<OperationError>())
        queue.maxConcurrentOperationCount = 1
        try run(nesting, in: queue) { _ in
            let behind = BlockOperation {}
            queue.addOperation(behind)
            do throws(OperationError) { try behind.tryWaitUntilFinished() } catch { misuse.append(error) }
        }
        #expect(misuse.entries.count == 1)
    }

    @Test func `an async child that waits for all operations of its group's queue is misuse`() async {
        let (queue, misuse) = (OperationQueue(), Journal<OperationError>())
        let group = GroupOperation()
        group.addChildTask {
            do throws(OperationError) { try await queue.tryWaitUntilAllOperationsAreFinished() } catch {
                misuse.append(error)
            }
        }
        queue.addOperation(group)
        await group.waitUntilFinished()
        #expect(misuse.entries.count == 1)
    }

    @Test func `a child may wait for operations of other queues, and of its group's queue if a slot is free`() throws {
        let (queue, other) = (OperationQueue(), OperationQueue())
        queue.maxConcurrentOperationCount = 2
        for nesting in Nesting.allCases {
            try run(nesting, in: queue) { _ in
                let (near, far) = (BlockOperation {}, BlockOperation {})
                queue.addOperation(near)
                other.addOperation(far)
                near.waitUntilFinished()
                far.waitUntilFinished()
                other.waitUntilAllOperationsAreFinished()
            }
        }
    }

    // MARK: - Service levels

    enum Setting: CaseIterable { case operation, queue, both }

    @Test(arguments: Nesting.allCases, Setting.allCases)
    func `operations inside an operation run at its service level`(nesting: Nesting, setting: Setting) throws {
        let levels = Journal<QualityOfService?>()
        let queue = OperationQueue()
        if setting != .operation { queue.qualityOfService = .utility }
        let child = { @Sendable in BlockOperation { levels.append(OperationQueue.current?.qualityOfService) } }
        let outermost: Operation =
            switch nesting {
            case .group: GroupOperation { [child()] }
            case .groupInGroup: GroupOperation { [GroupOperation { [child()] }] }
            case .retry: RetryOperation(RetryPolicy(retries: 0)) { _ in child() }
            }
        switch setting {
        case .operation: outermost.qualityOfService = .utility
        case .queue: break
        case .both: outermost.qualityOfService = .background
        }
        queue.addOperations([outermost], waitUntilFinished: true)
        #expect(levels.entries == [.utility])
    }
}
