#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif
@testable import Operations
import TestSupport
import Testing

/// Rule A17. The tests read the level of the worker that runs the work, which needs no privilege, and the nice value where a
/// running thread is raised.
@Suite(.timeLimit(.minutes(5)), .tags(.threads, .ordinaryConditions)) struct LevelLendingTests {
    enum Waiter: CaseIterable {
        case thread, task, result, dependent, dependentOfDependent, operation, asyncOperation, group
    }

    @Test(arguments: Waiter.allCases)
    func `an operation that waits in a background queue gets the level of its waiter`(_ waiter: Waiter) async throws {
        let line = BackgroundLine()
        let (other, log) = (OperationQueue(), Journal<ServiceLevel?>())
        let work = TaskOperation { log.append(.ofThisWorker) }
        let last = BlockOperation {}
        if waiter != .dependent, waiter != .dependentOfDependent, waiter != .group { line.queue.addOperation(work) }
        switch waiter {
        case .thread: _ = TestThread { work.waitUntilFinished() }
        case .task: Task.detached(priority: .medium) { await work.waitUntilFinished() }
        case .result: Task.detached(priority: .medium) { await work.result }
        case .dependent:
            last.addDependency(work)
            line.queue.addOperation(work)
            other.addOperation(last)
        case .dependentOfDependent:
            let between = BlockOperation {}
            line.queue.addOperation(between)
            between.addDependency(work)
            line.queue.addOperation(work)
            last.addDependency(between)
            other.addOperation(last)
        case .operation: other.addOperation { work.waitUntilFinished() }
        case .asyncOperation: other.addTask { await work.waitUntilFinished() }
        case .group:
            line.queue.addOperation(work)
            other.addOperation(
                GroupOperation {
                    last.addDependency(work)
                    return [last]
                })
        }
        await untilTrue { work.otherLevels.lent == .normal }
        line.start()
        _ = await work.result
        #expect(log.entries == [.normal])
    }

    @Test(arguments: [QualityOfService.utility, .userInitiated, .userInteractive])
    func `a dependent lends its own level, or the level of its queue`(_ quality: QualityOfService) {
        for isOfQueue in [false, true] {
            let line = BackgroundLine()
            let (other, log) = (OperationQueue(), Journal<ServiceLevel?>())
            let (work, last) = (BlockOperation { log.append(.ofThisWorker) }, BlockOperation {})
            last.addDependency(work)
            line.queue.addOperation(work)
            if isOfQueue { other.qualityOfService = quality } else { last.qualityOfService = quality }
            other.addOperation(last)
            line.start()
            // Lends nothing itself.
            other.waitUntilAllOperationsAreFinished()
            #expect(log.entries == [max(ServiceLevel(quality), .utility)], "\(isOfQueue)")
        }
    }

    @Test func `a dependency that is added in the queue, and a level that rises later, are lent too`() {
        let line = BackgroundLine()
        let held = HeldQueue()
        let works = (0..<3).map { _ in BlockOperation {} }
        let dependents = (0..<3).map { _ in BlockOperation {} }
        for (work, dependent) in zip(works, dependents) {
            line.queue.addOperation(work)
            if work !== works[0] { dependent.addDependency(work) }
            held.queue.addOperation(dependent)
        }
        dependents[0].addDependency(works[0])
        #expect(works.map(\.otherLevels.lent) == [.normal, .normal, .normal])
        dependents[1].qualityOfService = .userInitiated
        #expect(works.map(\.otherLevels.lent) == [.normal, .userInitiated, .normal])
        held.queue.qualityOfService = .userInteractive
        #expect(works.map(\.otherLevels.lent) == [.userInteractive, .userInteractive, .userInteractive])
        line.start()
        held.release()
    }

    @Test func `a level that is lent before the operation is in its queue applies there`() {
        let line = BackgroundLine()
        let log = Journal<ServiceLevel?>()
        let (work, urgent) = (BlockOperation { log.append(.ofThisWorker) }, BlockOperation {})
        urgent.qualityOfService = .userInitiated
        urgent.addDependency(work)
        line.queue.addOperation(work)
        line.start()
        work.waitUntilFinished()
        #expect(log.entries == [.userInitiated])
        urgent.cancel()
    }

    @Test func `a lower level lends nothing, and a lent level lowers nothing`() {
        #expect(levelWithUtilityDependent { _ in } == .normal)
    }

    @Test func `a queue that becomes slower later does not take a lent level back`() {
        #expect(levelWithUtilityDependent { $0.qualityOfService = .background } == .utility)
    }

    /// The level of an operation with a dependent of the level utility, in a queue that `change` changes before it starts both.
    private func levelWithUtilityDependent(_ change: (OperationQueue) -> Void) -> ServiceLevel? {
        let queue = OperationQueue()
        queue.isSuspended = true
        let log = Journal<ServiceLevel?>()
        let (work, lazy) = (BlockOperation { log.append(.ofThisWorker) }, BlockOperation {})
        lazy.qualityOfService = .utility
        lazy.addDependency(work)
        queue.addOperations([work, lazy], waitUntilFinished: false)
        change(queue)
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        return log.entries[0]
    }

    @Test func `a wait for all operations of a queue lends nothing`() {
        let queue = OperationQueue()
        queue.qualityOfService = .background
        let log = Journal<ServiceLevel?>()
        queue.addOperation { log.append(.ofThisWorker) }
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == [.background])
    }

    @Test func `an overridden quality of service lends, and is raised`() {
        let line = BackgroundLine()
        let (work, urgent) = (QualityOverride(.background), QualityOverride(.userInitiated))
        urgent.addDependency(work)
        line.queue.addOperation(work)
        OperationQueue().addOperation(urgent)
        line.start()
        urgent.waitUntilFinished()
        #expect(work.level.entries == [.userInitiated])
    }

    @Test func `a chain of 10,000 operations in many queues is raised, each operation once`() {
        let lines = (0..<10).map { _ in BackgroundLine() }
        var last = BlockOperation {}
        let first = last
        lines[0].queue.addOperation(last)
        for number in 1..<10_000 {
            let next = BlockOperation {}
            next.addDependency(last)
            lines[number % 10].queue.addOperation(next)
            last = next
        }
        let urgent = BlockOperation {}
        urgent.addDependency(last)
        OperationQueue().addOperation(urgent)
        #expect(first.otherLevels.lent == .normal)
        for line in lines { line.start() }
        urgent.waitUntilFinished()
    }

    @Test func `the children of a group and the attempts of a retry get the lent level, later ones too`() async {
        let line = BackgroundLine()
        let log = Journal<ServiceLevel?>()
        let group = GroupOperation()
        let later = BlockOperation { log.append(.ofThisWorker) }
        group.addChild(
            BlockOperation {
                log.append(.ofThisWorker)
                group.addChild(later)
            })
        let retry = RetryOperation(.init(retries: 2, backoff: .constant(.zero))) { _ in
            TaskOperation {
                log.append(.ofThisWorker)
                if log.entries.count < 5 { throw Failure.expected }
            }
        }
        await line.queue.addOperations([group, retry], waitUntilFinished: false)
        retry.addDependency(group)
        let waiter = TestThread { retry.waitUntilFinished() }
        await untilTrue { group.otherLevels.lent == .normal }
        line.start()
        await retry.waitUntilFinished()
        waiter.join()
        #expect(log.entries == [ServiceLevel?](repeating: ServiceLevel.normal, count: 5))
    }

    @Test func `later parts of an async operation run at a level that is lent while it is suspended`() async throws {
        let queue = OperationQueue()
        queue.qualityOfService = .background
        let (begun, gate) = (AsyncGate(), AsyncGate())
        let work = queue.addTask { () -> [ServiceLevel?] in
            let first = ServiceLevel.ofThisWorker
            begun.open()
            await gate.pass()
            let second = ServiceLevel.ofThisWorker
            await Task.yield()
            return [first, second, .ofThisWorker]
        }
        await begun.pass()
        // Until the thread has left the work, an open gate would not suspend it.
        await untilTrue { WorkerPool.pools.allSatisfy { $0.start(of: work) == nil } }
        let waiter = TestThread { work.waitUntilFinished() }
        // The task has the level a moment after the operation.
        await untilTrue { work.taskReference.load()?.lent == .normal }
        gate.open()
        await work.waitUntilFinished()
        waiter.join()
        let levels = try await work.value
        #expect(levels == [.background, .normal, .normal])
    }

    #if os(Linux)
    /// As the next one, in a process of its own, whose other threads add no load.
    @Test(.enabled(if: threadsMayBeRaised))
    func `the thread of a running operation is raised until the operation has ended`() async {
        await #expect(processExitsWith: .success) {
            for blocks in [1, 4] {
                let queue = OperationQueue()
                queue.qualityOfService = .background
                queue.maxConcurrentOperationCount = 1
                let (begun, log) = (Gate(blocks), Journal<Int32>())
                let work = BlockOperation()
                for _ in 0..<blocks {
                    work.addExecutionBlock {
                        let before = Niceness.ofThread
                        begun.open()
                        until { Niceness.ofThread == Niceness.ofProcess }
                        log.append(before - Niceness.ofProcess)
                    }
                }
                let next = BlockOperation { log.append(Niceness.ofThread - Niceness.ofProcess) }
                queue.addOperation(work)
                queue.addOperation(next)
                begun.pass()
                await work.waitUntilFinished()
                await queue.waitUntilAllOperationsAreFinished()
                precondition(log.entries == [Int32](repeating: 10, count: blocks + 1), "\(log.entries)")
            }
        }
    }

    @Test(.enabled(if: threadsMayBeRaised))
    func `the thread of a running part of an async operation is raised, by a dependent too`() async {
        await #expect(processExitsWith: .success) {
            let queue = OperationQueue()
            let begun = AsyncGate()
            let work = TaskOperation {
                // The second part runs on a thread for operations with a level of their own.
                await Task.yield()
                begun.open()
                until { Niceness.ofThread == Niceness.ofProcess }
            }
            work.qualityOfService = .background
            queue.addOperation(work)
            await begun.pass()
            let dependent = BlockOperation {}
            dependent.addDependency(work)
            queue.addOperation(dependent)
            await queue.waitUntilAllOperationsAreFinished()
        }
    }
    #endif

    /// In a process of its own: the last check looks at all threads of the process.
    @Test func `random waiters beside changing levels lose no operation, and leave no thread raised`() async {
        await #expect(processExitsWith: .success) {
            let qualities: [QualityOfService] = [.background, .utility, .default, .userInitiated, .userInteractive]
            let queues = qualities.map { quality in
                let queue = OperationQueue()
                queue.qualityOfService = quality
                return queue
            }
            queues[0].maxConcurrentOperationCount = 3
            let rounds = Stress.rounds(3_000, least: 300)
            let threads = (0..<4).map { seed in
                TestThread {
                    var random = SeededRandom(seed: UInt64(seed))
                    var earlier: [Operation] = []
                    for _ in 0..<rounds {
                        let queue = queues.randomElement(using: &random)!
                        let next: Operation =
                            switch Int.random(in: 0..<4, using: &random) {
                            case 0: TaskOperation { await Task.yield() }
                            case 1: GroupOperation { [BlockOperation {}, TaskOperation { await Task.yield() }] }
                            default: BlockOperation {}
                            }
                        for old in earlier.shuffled(using: &random).prefix(2) { next.addDependency(old) }
                        queue.addOperation(next)
                        switch Int.random(in: 0..<8, using: &random) {
                        case 0: next.qualityOfService = qualities.randomElement(using: &random)!
                        case 1: queue.qualityOfService = qualities.randomElement(using: &random)!
                        case 2: next.waitUntilFinished()
                        case 3: Task { await next.waitUntilFinished() }
                        default: break
                        }
                        earlier.append(next)
                        if earlier.count > 5 { earlier.removeFirst() }
                    }
                }
            }
            for thread in threads { thread.join() }
            for queue in queues { await queue.waitUntilAllOperationsAreFinished() }
            for pool in WorkerPool.pools {
                until { pool.state.withLock { $0.busy.isEmpty } }
                let lent = pool.state.withLock { $0.idle.compactMap(\.census.lentLevel) }
                precondition(lent.isEmpty, "\(pool.level): \(lent)")
            }
        }
    }

    /// Without the level of the waiter, the four busy threads use 2 to 15 seconds of processor time meanwhile.
    @Test(.tags(.slow), arguments: [false, true])
    func `background work that a thread waits for gets its share beside busy threads`(_ isDependent: Bool) {
        let stop = Guarded(false)
        let used = Journal<UInt64>()
        let spinners = (0..<4).map { _ in
            TestThread {
                let clock = ThreadClock.current
                while !stop.withLock({ $0 }) { for _ in 0..<1_000 { useProcessor() } }
                used.append(clock.used)
            }
        }
        let queue = OperationQueue()
        queue.qualityOfService = .background
        let held = HeldQueue()
        let work = BlockOperation {
            let clock = ThreadClock.current
            let start = clock.used
            while clock.used - start < 100_000_000 { useProcessor() }
        }
        queue.isSuspended = true
        queue.addOperation(work)
        let dependent = BlockOperation {}
        if isDependent {
            dependent.addDependency(work)
            held.queue.addOperation(dependent)
        }
        let waiter = TestThread { (isDependent ? dependent : work).waitUntilFinished() }
        until { work.otherLevels.lent == ServiceLevel.normal }
        queue.isSuspended = false
        held.release()
        waiter.join()
        stop.withLock { $0 = true }
        for spinner in spinners { spinner.join() }
        #expect(used.entries.reduce(0, +) < 1_500_000_000)
    }
}

/// A suspended background queue.
private struct BackgroundLine {
    let queue = OperationQueue()

    init() {
        queue.qualityOfService = .background
        queue.isSuspended = true
    }

    func start() { queue.isSuspended = false }
}

private final class QualityOverride: Operation, @unchecked Sendable {
    let level = Journal<ServiceLevel?>()
    private let quality: QualityOfService

    init(_ quality: QualityOfService) { self.quality = quality }

    override var qualityOfService: QualityOfService {
        get { quality }
        set {}
    }

    override func main() { level.append(.ofThisWorker) }
}

#if os(Linux)
/// Whether a thread of this process may become less nice.
private let threadsMayBeRaised: Bool = {
    let result = Guarded(false)
    let thread = TestThread {
        let own = Niceness.ofThread
        Niceness.setOfThread(own + 1)
        Niceness.setOfThread(own)
        result.withLock { $0 = Niceness.ofThread == own }
    }
    thread.join()
    return result.withLock { $0 }
}()
#endif

extension ServiceLevel {
    /// The level of the worker that calls; nil on any other thread.
    fileprivate static var ofThisWorker: ServiceLevel? { ThreadContext.current.worker?.level }
}

/// Uses processor time.
private func useProcessor() { withExtendedLifetime(OperationClock().now) {} }
