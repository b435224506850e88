import Dispatch
@testable import Operations
import TestSupport
import Testing

/// Rule A13: an operation that cannot start holds no place in the line of a resource that would delay an operation that can.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct ResourceLineTests {
    /// A cause that keeps an operation from starting when it is the first in line.
    enum Obstacle: CaseIterable {
        case suspension, widthZero, noSlot, rate, key, dispatchQueue, pause, dependency, override, condition, group

        /// Whether the operation gets its place back as soon as the obstacle is gone. A queue cannot know whether a
        /// thread of Dispatch, or the turn of a key, is still free when the units are.
        var keepsPlace: Bool { self != .key && self != .dispatchQueue }
    }

    @Test(arguments: Obstacle.allCases)
    func `an operation that cannot start lets others pass, and keeps its seniority`(_ obstacle: Obstacle) async {
        let scene = await Scene(obstacle)
        await scene.raise()
        // The holder ends only after this operation.
        let small = scene.small()
        scene.other.addOperation(small)
        await small.waitUntilFinished()
        #expect(!scene.large.isFinished)
        await scene.lift()
        if obstacle.keepsPlace {
            let line = WaitingReason.resourceLine(name: "unit", behind: "Large 'large'")
            var late: BlockOperation
            // A slot, for example, is free some time after its operation has returned. Until then, small operations still pass.
            repeat {
                late = scene.small()
                scene.other.addOperation(late)
                while !late.isFinished, scene.other.explain(late).reasons != [line] { await Task.yield() }
            } while late.isFinished
            scene.mayEnd.open()
            await late.waitUntilFinished()
            #expect(scene.large.isFinished)
        }
        scene.mayEnd.open()
        await scene.large.waitUntilFinished()
        await scene.holder.waitUntilFinished()
        await scene.queue.waitUntilAllOperationsAreFinished()
        #expect(scene.pool.usage(of: "unit") == .init(capacity: 2, inUse: 0, waiting: 0))
    }

    /// An exclusive name needs another resource as well, so that its line stands still although the name is free.
    @Test func `a claimant of two resources in a suspended queue blocks neither line`() async {
        let (pool, queue, other) = (ResourcePool(["a": 1]), OperationQueue(), OperationQueue())
        let (holds, mayEnd) = (AsyncGate(), AsyncGate())
        let holder = TaskOperation {
            holds.open()
            await mayEnd.pass()
        }
        holder.addRequirement(.units(1, of: "a", in: pool))
        other.addOperation(holder)
        await holds.pass()
        let both = BlockOperation {}
        both.name = "both"
        both.addRequirement(.units(1, of: "a", in: pool))
        both.addRequirement(.exclusive("of a suspended queue"))
        queue.addOperation(both)
        while pool.usage(of: "a")?.waiting != 1 { await Task.yield() }
        let single = BlockOperation {}
        single.addRequirement(.exclusive("of a suspended queue"))
        other.addOperation(single)
        let line = WaitingReason.resourceLine(name: "of a suspended queue", behind: "BlockOperation 'both'")
        while other.explain(single).reasons != [line] { await Task.yield() }
        queue.isSuspended = true
        await single.waitUntilFinished()
        queue.isSuspended = false
        mayEnd.open()
        await both.waitUntilFinished()
    }

    @Test func `operations that share a resource end while queues lose and regain their slots all the time`() async {
        let pool = ResourcePool(["unit": 3])
        let queues = (0..<4).map { _ in OperationQueue() }
        let count = Stress.rounds(20_000, least: 500)
        let inUse = Guarded((now: 0, most: 0, runs: 0))
        for number in 0..<count {
            let units = 1 + number % 3
            let operation = BlockOperation {
                inUse.withLock {
                    $0.now += units
                    $0.most = max($0.most, $0.now)
                    $0.runs += 1
                }
                inUse.withLock { $0.now -= units }
            }
            operation.addRequirement(.units(units, of: "unit", in: pool))
            let queue = queues[number % 4]
            if number % 16 == 3 {
                queue.addOperation(operation, limitKey: "key \(number % 5)")
            } else {
                queue.addOperation(operation)
            }
            if number % 7 == 0 { queue.maxConcurrentOperationCount = 1 + number % 2 }
            if number % 11 == 0 { queue.isSuspended = true }
            if number % 11 == 5 { for queue in queues { queue.isSuspended = false } }
            if number % 13 == 0 { queue.addOperation {} }
        }
        for queue in queues { queue.isSuspended = false }
        for queue in queues { await queue.waitUntilAllOperationsAreFinished() }
        #expect(inUse.withLock { $0.runs } == count && inUse.withLock { $0.most } <= 3)
        #expect(pool.usage(of: "unit") == .init(capacity: 3, inUse: 0, waiting: 0))
    }

    @Test func `serial queues that share a resource ask each waiting operation a few times only`() async {
        let pool = ResourcePool(["unit": 3])
        let queues = (0..<4).map { OperationQueue(name: "\($0)", maxConcurrentOperationCount: 1) }
        let (count, questions) = (1000, Guarded(0))
        for number in 0..<count {
            let operation = Asked(counting: questions)
            operation.addRequirement(.units(1 + number % 3, of: "unit", in: pool))
            queues[number % 4].addOperation(operation)
        }
        for queue in queues { await queue.waitUntilAllOperationsAreFinished() }
        let asked = questions.withLock { $0 }
        #expect(asked < 6 * count, "\(asked)")
    }

    @Test func `an operation that is asked again after it has got its units keeps its place in the line`() async {
        let (pool, order) = (ResourcePool(["unit": 1]), Guarded<[String]>([]))
        let queues = (0..<4).map { _ in OperationQueue() }
        let (holds, mayEnd) = (AsyncGate(), AsyncGate())
        let holder = TaskOperation {
            holds.open()
            await mayEnd.pass()
        }
        // The units are reserved for it then, and it has not got them.
        let restless = Restless(announcesOnceIf: { pool.usage(of: "unit")?.inUse == 0 }) {
            order.withLock { $0.append("restless") }
        }
        // A gate that is asked before the one that takes the units.
        restless.setTimeout(.seconds(3600))
        // The units that the restless one returns are offered to this one. It starts first, unless the restless one, which has the
        // earlier place, is back sooner; and ends when that one is back.
        let second = TaskOperation {
            while pool.usage(of: "unit")?.waiting != 2, !restless.isFinished { await Task.yield() }
        }
        let third = BlockOperation { order.withLock { $0.append("third") } }
        for operation in [holder, restless, second, third] {
            operation.addRequirement(.units(1, of: "unit", in: pool))
        }
        queues[0].addOperation(holder)
        await holds.pass()
        for (number, operation) in [restless, second, third].enumerated() {
            queues[number + 1].addOperation(operation)
            while pool.usage(of: "unit")?.waiting != number + 1 { await Task.yield() }
        }
        mayEnd.open()
        for queue in queues { await queue.waitUntilAllOperationsAreFinished() }
        #expect(order.withLock { $0.last } == "third")
    }
}

/// Announces a change of its readiness while it is admitted, by an override that the queue reads before it asks a gate.
private final class Restless: Operation, @unchecked Sendable {
    private let (condition, body): (@Sendable () -> Bool, @Sendable () -> Void)
    private let reads = Guarded(0)

    init(announcesOnceIf condition: @escaping @Sendable () -> Bool, body: @escaping @Sendable () -> Void) {
        (self.condition, self.body) = (condition, body)
    }

    override var isCancelled: Bool {
        let read =
            !condition()
            ? 0
            : reads.withLock { reads in
                reads += 1
                return reads
            }
        if read == 1 {
            willChangeValue(for: \.isReady)
            didChangeValue(for: \.isReady)
        }
        return super.isCancelled
    }

    override func main() { body() }
}

/// Counts the questions whether it is ready.
private final class Asked: Operation, @unchecked Sendable {
    private let questions: Guarded<Int>
    init(counting questions: Guarded<Int>) { self.questions = questions }

    override var isReady: Bool {
        questions.withLock { $0 += 1 }
        return super.isReady
    }
}

/// One of two units is in use by an operation that ends only after another one. A large operation, which needs both, is in line.
private final class Scene: Sendable {
    let pool = ResourcePool(["unit": 2])
    let (queue, other) = (OperationQueue(), OperationQueue())
    let holder: TaskOperation<Void>
    let large: Large
    let mayEnd = AsyncGate()
    private let obstacle: ResourceLineTests.Obstacle
    private let dispatchQueue = DispatchQueue(label: "of a test")
    private let group = GroupOperation()
    private let dependency = BlockOperation {}
    private let mayLeave = Gate()

    init(_ obstacle: ResourceLineTests.Obstacle) async {
        self.obstacle = obstacle
        let (holds, mayEnd) = (AsyncGate(), mayEnd)
        holder = TaskOperation {
            holds.open()
            await mayEnd.pass()
        }
        holder.addRequirement(.units(1, of: "unit", in: pool))
        large = Large()
        large.name = "large"
        large.addRequirement(.units(2, of: "unit", in: pool))
        other.addOperation(holder)
        await holds.pass()
        switch obstacle {
        case .noSlot: queue.maxConcurrentOperationCount = 1
        case .rate: queue.setRateLimit(.slidingWindow(1, per: .seconds(3600)))
        case .key: queue.setLimitPerKey(1)
        case .dispatchQueue: queue.underlyingQueue = dispatchQueue
        default: break
        }
        switch obstacle {
        case .key: queue.addOperation(large, limitKey: "key")
        case .group:
            group.addChild(large)
            queue.addOperation(group)
        default: queue.addOperation(large)
        }
        await largeIsInLine()
    }

    func small() -> BlockOperation {
        let operation = BlockOperation {}
        operation.addRequirement(.units(1, of: "unit", in: pool))
        return operation
    }

    func largeIsInLine() async { while pool.usage(of: "unit")?.waiting != 1 { await Task.yield() } }

    func raise() async {
        let (begun, mayLeave) = (AsyncGate(), mayLeave)
        let occupant: @Sendable () -> Void = {
            begun.open()
            mayLeave.pass()
        }
        switch obstacle {
        case .suspension: queue.isSuspended = true
        case .widthZero: queue.maxConcurrentOperationCount = 0
        case .noSlot: queue.addOperation(occupant)
        case .rate: await queue.addTask {}.waitUntilFinished()
        case .key: queue.addOperation(BlockOperation(block: occupant), limitKey: "key")
        case .dispatchQueue: dispatchQueue.async(execute: occupant)
        case .pause: large.pause()
        case .dependency: large.addDependency(dependency)
        case .override: large.set(isReady: false)
        case .condition:
            large.addCondition(
                OperationCondition("gate") { _ in
                    begun.open()
                    await self.conditionHolds.pass()
                })
        case .group: group.pause()
        }
        switch obstacle {
        case .noSlot, .key, .dispatchQueue, .condition: await begun.pass()
        default: break
        }
    }

    private let conditionHolds = AsyncGate()

    func lift() async {
        switch obstacle {
        case .suspension: queue.isSuspended = false
        case .widthZero: queue.maxConcurrentOperationCount = 1
        case .noSlot, .key, .dispatchQueue: mayLeave.open()
        case .rate: queue.setRateLimit(nil)
        case .pause: large.resume()
        case .dependency: dependency.start()
        case .override: large.set(isReady: true)
        case .condition: conditionHolds.open()
        case .group: group.resume()
        }
    }
}

private final class Large: AsyncOperation, @unchecked Sendable {
    private let isOpen = Guarded(true)
    override var isReady: Bool { super.isReady && isOpen.withLock { $0 } }

    func set(isReady: Bool) {
        willChangeValue(for: \.isReady)
        isOpen.withLock { $0 = isReady }
        didChangeValue(for: \.isReady)
    }

    override func run() async throws {}
}
