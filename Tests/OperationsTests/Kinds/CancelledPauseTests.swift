@testable import Operations
import OperationsTesting
import TestSupport
import Testing

/// Work that pauses once, and notes how it continues.
private final class Pausing: AsyncOperation, @unchecked Sendable {
    let begins = AsyncGate()
    let mayPause = AsyncGate()
    private let journal: Journal<String>

    init(_ journal: Journal<String>) {
        self.journal = journal
        super.init()
    }

    override func run() async {
        begins.open()
        await mayPause.pass()
        await waitWhilePaused()
        journal.append(isCancelled ? "cancelled work continues" : "work continues")
    }

    /// Pauses the operation after its start, and lets its work come to the pause.
    func reachesPause() async {
        await begins.pass()
        pause()
        mayPause.open()
    }
}

/// Work that uses an exclusive name, and may pause between its uses.
private final class ExclusiveUser: AsyncOperation, @unchecked Sendable {
    private let users: ConcurrencyCounter

    init(_ users: ConcurrencyCounter) {
        self.users = users
        super.init()
    }

    override func run() async {
        for _ in 0..<4 {
            users.enter()
            await Task.yield()
            users.leave()
            await waitWhilePaused()
        }
    }
}

/// A need of an operation besides a slot.
private enum Need: CaseIterable {
    case exclusiveName, units

    func add(_ operation: Operation, to queue: OperationQueue, _ pool: ResourcePool, name: String) {
        switch self {
        case .exclusiveName: operation.addRequirement(.exclusive(name))
        case .units: operation.addRequirement(.units(2, of: "units", in: pool))
        }
        queue.addOperation(operation)
    }
}

@Suite(.timeLimit(.minutes(5))) struct CancelledPauseTests {
    @Test(arguments: Need.allCases)
    fileprivate func `cancelled work continues after a pause only with its exclusive name and its units`(
        need: Need
    ) async {
        let (queue, pool, journal) = (OperationQueue(), ResourcePool(["units": 3]), Journal<String>())
        queue.maxConcurrentOperationCount = 2
        let name = "\(ObjectIdentifier(queue))"
        let operation = Pausing(journal)
        need.add(operation, to: queue, pool, name: name)
        await operation.reachesPause()
        let (otherBegins, otherMayEnd) = (AsyncGate(), AsyncGate())
        let other = TaskOperation {
            otherBegins.open()
            await otherMayEnd.pass()
            journal.append("the other operation ends")
        }
        need.add(other, to: queue, pool, name: name)
        await otherBegins.pass()

        operation.cancel()
        // The second slot is for the cancelled operation, which was added earlier. Only its need holds it back.
        await queue.addTask {}.waitUntilFinished()
        #expect(!operation.isExecuting && !operation.isFinished)
        let reasons = queue.explain(operation).reasons
        #expect(!reasons.isEmpty && !reasons.contains(.paused))
        otherMayEnd.open()
        await queue.waitUntilAllOperationsAreFinished()
        #expect(journal.entries == ["the other operation ends", "cancelled work continues"])
        #expect(pool.usage(of: "units") == .init(capacity: 3, inUse: 0, waiting: 0))
        #expect(!ResourcePool.isKnown(exclusiveName: name))
    }

    @Test func `cancelled work that waits for its resources after a pause returns no permit of the rate limit`() async {
        let executor = ManualExecutor()
        let (queue, clock, journal) = (executor.makeQueue(), VirtualClock(), Journal<String>())
        queue.maxConcurrentOperationCount = 8
        queue.setRateLimit(.slidingWindow(3, per: .seconds(3600)), clock: clock)
        let name = "\(ObjectIdentifier(queue))"
        let (operation, otherMayEnd) = (Pausing(journal), AsyncGate())
        operation.addRequirement(.exclusive(name))
        queue.addOperation(operation)
        executor.runUntilIdle()
        operation.pause()
        operation.mayPause.open()
        executor.runUntilIdle()
        let other = TaskOperation { await otherMayEnd.pass() }
        other.addRequirement(.exclusive(name))
        queue.addOperation(other)
        executor.runUntilIdle()
        operation.cancel()
        executor.runUntilIdle()
        for _ in 0..<4 { queue.addOperation { journal.append("starts") } }
        executor.runUntilIdle()
        // With the starts of both operations, the rate permits one more.
        #expect(journal.entries == ["starts"])
        queue.setRateLimit(nil)
        otherMayEnd.open()
        executor.runUntilIdle()
        #expect(queue.snapshot().waiting == 0 && operation.isFinished)
    }

    @Test func `cancelled work continues after a pause without a turn under its key`() async {
        let (queue, journal) = (OperationQueue(), Journal<String>())
        queue.maxConcurrentOperationCount = 2
        queue.setLimitPerKey(1)
        let operation = Pausing(journal)
        queue.addOperation(operation, limitKey: "key")
        await operation.reachesPause()
        let (otherBegins, otherMayEnd) = (AsyncGate(), AsyncGate())
        let other = TaskOperation {
            otherBegins.open()
            await otherMayEnd.pass()
        }
        queue.addOperation(other, limitKey: "key")
        await otherBegins.pass()
        operation.cancel()
        await operation.waitUntilFinished()
        #expect(journal.entries == ["cancelled work continues"] && !other.isFinished)
        otherMayEnd.open()
        await queue.waitUntilAllOperationsAreFinished()
    }

    @Test(.tags(.threads))
    func `operations that are paused, resumed and cancelled at once never use an exclusive name together`() async {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 4
        let name = "\(ObjectIdentifier(queue))"
        let users = ConcurrencyCounter()
        for _ in 0..<200 {
            let operations = (0..<3).map { _ in ExclusiveUser(users) }
            // On a busy machine, all others may be cancelled before they start.
            let uncancelled = ExclusiveUser(users)
            for operation in operations + [uncancelled] {
                operation.addRequirement(.exclusive(name))
                queue.addOperation(operation)
            }
            await withTaskGroup { group in
                for operation in operations {
                    operation.pause()
                    group.addTask { operation.cancel() }
                    group.addTask { operation.resume() }
                }
            }
            await queue.waitUntilAllOperationsAreFinished()
        }
        #expect(users.most == 1)
        #expect(!ResourcePool.isKnown(exclusiveName: name))
    }
}
