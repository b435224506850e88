import TestSupport

#if os(Linux)
@testable import Operations
import Testing

/// Rules P6 and P8: the nice value of the thread that runs the work. Only levels below normal take effect without
/// privilege, so the tests use only these.
@Suite(.timeLimit(.minutes(5)), .tags(.ordinaryConditions)) struct ServiceLevelTests {
    private static let normal = LifeProcess.ownNiceness
    private static let utility = min(19, normal + ServiceLevel.utility.niceness)
    private static let background = min(19, normal + ServiceLevel.background.niceness)

    /// Rule P8.
    @Test func `utility is nicer than normal and background nicer still`() {
        #expect(ServiceLevel.utility.niceness > ServiceLevel.normal.niceness)
        #expect(ServiceLevel.background.niceness > ServiceLevel.utility.niceness)
    }

    /// Rule P6.
    @Test func `an operation without a quality of its own has its queue's`() {
        #expect(nice(of: .default, in: .utility) == Self.utility)
        #expect(nice(of: .default, in: .background) == Self.background)
    }

    /// Rule P6.
    @Test func `an operation's own quality applies when it is above its queue's`() {
        #expect(nice(of: .utility, in: .background) == Self.utility)
    }

    /// Rule P6.
    @Test func `a quality below the queue's is raised to it`() {
        #expect(nice(of: .background, in: .utility) == Self.utility)
        #expect(nice(of: .background, in: .userInitiated) <= Self.normal)
    }

    /// Rule P6: the quality of the queue was never set, so the operation's quality is not raised.
    @Test func `an operation's own quality applies in a queue without a quality`() {
        #expect(nice(of: .utility, in: .default) == Self.utility)
        #expect(nice(of: .background, in: .default) == Self.background)
    }

    /// Rules P6, P8: one serial queue, with each operation on a thread of its own level.
    @Test func `operations of different levels in one queue each get their own`() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let log = Journal<Int32>()
        for quality: QualityOfService in [.background, .default, .utility, .background, .utility, .default] {
            let operation = BlockOperation { log.append(LifeProcess.niceness) }
            operation.qualityOfService = quality
            queue.addOperation(operation)
        }
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        let (n, u, b) = (Self.normal, Self.utility, Self.background)
        #expect(log.entries == [b, n, u, b, u, n])
    }

    /// Rule P6.
    @Test func `a queue's quality set late applies to later starts`() {
        let held = HeldQueue()
        let log = Journal<Int32>()
        let (queue, next) = (held.queue, [QualityOfService.background, .utility, .default, .background])
        for quality in next {
            queue.addOperation {
                log.append(LifeProcess.niceness)
                queue.qualityOfService = quality
            }
        }
        queue.addOperation { log.append(LifeProcess.niceness) }
        held.release()
        let (n, u, b) = (Self.normal, Self.utility, Self.background)
        #expect(log.entries == [n, b, u, n, b])
    }

    /// Rule P6.
    @Test func `an operation's quality set while it waits applies`() {
        let held = HeldQueue()
        let log = Journal<Int32>()
        let operation = BlockOperation { log.append(LifeProcess.niceness) }
        held.queue.addOperation(operation)
        operation.qualityOfService = .utility
        held.release()
        #expect(log.entries == [Self.utility])
    }

    /// Rules P6, B2.
    @Test func `all blocks of a block operation run at its level`() {
        let queue = OperationQueue()
        queue.qualityOfService = .utility
        let (log, meeting) = (Journal<Int32>(), Gate(4))
        let operation = BlockOperation()
        for _ in 0..<4 {
            operation.addExecutionBlock {
                meeting.meet()
                log.append(LifeProcess.niceness)
            }
        }
        queue.addOperation(operation)
        // A wait for the operation itself would lend it the level of this thread (rule A17).
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == [Int32](repeating: Self.utility, count: 4))
    }

    /// Rules P6, X2.
    @Test func `a barrier runs at the queue's level`() {
        let queue = OperationQueue()
        queue.qualityOfService = .background
        let log = Journal<Int32>()
        queue.addBarrierBlock { log.append(LifeProcess.niceness) }
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == [Self.background])
    }

    /// Rule P8: a thread inherits the nice value of its creator, and cannot reduce it.
    @Test func `work started from a background operation is not slowed down`() {
        let outer = OperationQueue()
        outer.qualityOfService = .background
        let log = nicenessOfNewThreads { body in
            outer.addOperation(body)
            outer.waitUntilAllOperationsAreFinished()
        }
        #expect(log == [Int32](repeating: Self.normal, count: 20))
    }

    /// Rule P8: for example, threads that Dispatch creates when a background operation resumes a task.
    @Test func `work started from a thread with a raised nice value is not slowed down`() {
        let log = nicenessOfNewThreads { body in
            let thread = TestThread {
                Niceness.setOfThread(Self.background)
                body()
            }
            thread.join()
        }
        #expect(log == [Int32](repeating: Self.normal, count: 20))
    }

    /// The nice values of operations of normal level that `body` adds, when `adder` calls it.
    private func nicenessOfNewThreads(_ adder: (_ body: @escaping @Sendable () -> Void) -> Void) -> [Int32] {
        let log = Journal<Int32>()
        // Uses the sleeping threads, so that new ones have to be created.
        let busy = HeldQueue(width: 100)
        let inner = OperationQueue()
        inner.maxConcurrentOperationCount = 20
        let meeting = Gate(20)
        adder {
            for _ in 0..<20 {
                inner.addOperation {
                    meeting.meet()
                    log.append(LifeProcess.niceness)
                }
            }
        }
        inner.waitUntilAllOperationsAreFinished()
        busy.release()
        return log.entries
    }
}

private func nice(of own: QualityOfService, in quality: QualityOfService) -> Int32 {
    let queue = OperationQueue()
    queue.qualityOfService = quality
    let log = Journal<Int32>()
    let operation = BlockOperation { log.append(LifeProcess.niceness) }
    operation.qualityOfService = own
    queue.addOperation(operation)
    queue.waitUntilAllOperationsAreFinished()
    return log.entries[0]
}
#endif
