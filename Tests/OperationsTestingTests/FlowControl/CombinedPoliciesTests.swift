import Operations
import OperationsTesting
import TestSupport
import Testing

/// Rule A9: keys, rates, resources, conditions, capacities, barriers, suspension and cancellation can be combined freely.
///
/// Each seed makes queues with random policies and random operations. A simple reference model checks every start. Whenever no
/// step is ready, the reference model searches for an operation that may start by all the rules. There must be no such
/// operation. At the end, all operations have ended.
@Suite(.timeLimit(.minutes(5))) struct CombinedPoliciesTests {
    @Test(.tags(.slow)) func `no combination of policies exceeds a limit, loses an operation, or blocks forever`()
        throws
    {
        for seed in 0..<UInt64(Stress.rounds(500, least: 25)) {
            let world = try PolicyWorld(seed: seed)
            for _ in 0..<40 {
                try world.happen()
                world.checkAtRest()
            }
            world.finish()
            guard world.mistakes.isEmpty else {
                Issue.record("seed \(seed): \(world.mistakes.prefix(3).joined(separator: "\n"))")
                return
            }
        }
    }
}

/// Queues with random policies, and random events.
private final class PolicyWorld {
    private var random: SeededRandom
    private let executor: ManualExecutor
    private let clock = VirtualClock()
    private let pool: ResourcePool
    private let names: String
    private let reference: Guarded<PolicyReference>
    private var queues: [OperationQueue] = []
    private var operations: [Operation] = []

    init(seed: UInt64) throws {
        random = SeededRandom(seed: seed)
        executor = ManualExecutor(seed: seed)
        pool = ResourcePool(["unit": PolicyReference.capacity])
        names = "combined policies \(seed) "
        reference = Guarded(PolicyReference())
        for _ in 0...random.below(2) {
            let queue = executor.makeQueue()
            var own = PolicyReference.Queue(width: random.pick([1, 2, 3, 10]), limit: random.pick([nil, 1, 2]))
            queue.maxConcurrentOperationCount = own.width
            queue.setLimitPerKey(own.limit)
            if random.chance(30) {
                own.window = 1 + random.below(3)
                queue.setRateLimit(.slidingWindow(own.window!, per: PolicyReference.period), clock: clock)
            }
            if random.chance(40) { queue.setCapacity(2 + random.below(6)) }
            _ = queue.addEventHandler(for: [.added, .finished]) { [reference] event in
                let number = Int(event.name!)!
                reference.withLock {
                    if case .added = event.kind { $0.enter(number) } else { $0.members[number].phase = .ended }
                }
            }
            reference.withLock { $0.queues.append(own) }
            queues.append(queue)
        }
    }

    var mistakes: [String] { reference.withLock { $0.mistakes } }

    func happen() throws {
        let index = random.below(queues.count)
        let queue = queues[index]
        switch random.below(20) {
        case 0...8: add(to: index)
        case 9...10: addBarrier(to: index)
        case 11:
            guard let operation = pickOperation() else { return }
            reference.withLock { $0.members[operation.number].isCancelled = true }
            operation.cancel()
        case 12:
            let isSuspended = random.chance(50)
            reference.withLock { $0.queues[index].isSuspended = isSuspended }
            queue.isSuspended = isSuspended
        case 13:
            let limit = random.pick([nil, 1, 2, 3] as [Int?])
            reference.withLock { $0.queues[index].limit = limit }
            queue.setLimitPerKey(limit)
        case 14: pickOperation()?.queuePriority = random.pick([.veryLow, .low, .normal, .high, .veryHigh])
        case 15: clock.advance(by: .milliseconds(100 * random.below(20)))
        case 16...17: executor.runUntilIdle()
        default: for _ in 0..<random.below(10) { executor.step() }
        }
    }

    func checkAtRest() {
        guard executor.pendingCount == 0 else { return }
        let now = clock.now.offset
        reference.withLock { $0.checkAtRest(now) }
    }

    func finish() {
        for (index, queue) in queues.enumerated() {
            reference.withLock { $0.queues[index].isSuspended = false }
            queue.isSuspended = false
        }
        executor.runUntilIdle()
        checkAtRest()
        executor.runUntilIdle(advancing: clock, limit: 100_000)
        let left = reference.withLock { state in state.members.indices.filter { state.members[$0].phase != .ended } }
        for number in left {
            let why = operations.first { $0.number == number }.map { queues[0].explain($0).description }
            reference.withLock { $0.mistakes.append("never ended: \(number): \(why ?? "a barrier")") }
        }
        if let usage = pool.usage(of: "unit"), usage.inUse + usage.waiting > 0 {
            reference.withLock { $0.mistakes.append("left in use: \(usage)") }
        }
    }

    // MARK: - Adding

    private func pickOperation() -> Operation? { operations.isEmpty ? nil : random.pick(operations) }

    private func add(to index: Int) {
        var member = PolicyReference.Member(queue: index)
        if random.chance(60) { member.key = random.pick(["a", "b"]) }
        if random.chance(20) { member.name = random.pick(["x", "y"]) }
        if random.chance(20) { member.units = 1 + random.below(PolicyReference.capacity) }
        // The dependency must already be in its queue. Otherwise a barrier could come between, which would be a cycle (rule
        // X3).
        if random.chance(30), let dependency = operations.last, reference.withLock({ $0.hasEntered(dependency.number) })
        {
            member.dependencies.append(dependency.number)
        }
        if random.chance(25) { member.test = .isDue }
        let number = reference.withLock { state in
            state.members.append(member)
            return state.members.count - 1
        }
        let operation = makeOperation(member, number)
        operations.append(operation)
        let (queue, reference) = (queues[index], reference)
        if let key = member.key {
            if (try? queue.tryAddOperation(operation, limitKey: key)) == nil { drop(operation) }
        } else if random.chance(50) {
            if (try? queue.tryAddOperation(operation)) == nil { drop(operation) }
        } else {
            let adder = executor.task {
                do { try await queue.addOperationWaitingForCapacity(operation) } catch {
                    reference.withLock { $0.members[number].phase = .ended }
                    operation.cancel()
                    operation.start()
                }
            }
            if random.chance(20) { adder.cancel() }
        }
    }

    /// Ends an operation that a full queue has rejected, so that its dependents can start.
    private func drop(_ operation: Operation) {
        reference.withLock { $0.members[operation.number].phase = .ended }
        operation.cancel()
        operation.start()
    }

    private func makeOperation(_ member: PolicyReference.Member, _ number: Int) -> Operation {
        let (reference, clock) = (reference, clock)
        let pause = Duration.milliseconds(100 * random.below(15))
        let operation =
            random.chance(60)
            ? TaskOperation {
                reference.withLock { $0.starts(number, clock.now.offset) }
                try? await clock.sleep(for: pause)
            } : BlockOperation { reference.withLock { $0.starts(number, clock.now.offset) } }
        operation.name = "\(number)"
        operation.queuePriority = random.pick([.veryLow, .normal, .normal, .veryHigh])
        if let name = member.name { operation.addRequirement(.exclusive(names + name)) }
        if member.units > 0, let need = try? OperationRequirement.tryUnits(member.units, of: "unit", in: pool) {
            operation.addRequirement(need)
        }
        for other in operations where member.dependencies.contains(other.number) { operation.addDependency(other) }
        if member.test == .isDue {
            let wait = Duration.milliseconds(100 * random.below(10))
            operation.addCondition(
                OperationCondition("slow") { _ in
                    reference.withLock { $0.members[number].test = .isUnderWay }
                    try? await clock.sleep(for: wait)
                    reference.withLock { $0.members[number].test = .isDone }
                })
        }
        return operation
    }

    private func addBarrier(to index: Int) {
        let (reference, clock) = (reference, clock)
        let number = reference.withLock { state in
            var member = PolicyReference.Member(queue: index)
            member.isBarrier = true
            state.members.append(member)
            state.enter(state.members.count - 1)
            return state.members.count - 1
        }
        queues[index].addBarrierBlock {
            reference.withLock {
                $0.starts(number, clock.now.offset)
                $0.members[number].phase = .ended
            }
        }
    }
}

extension Operations.Operation {
    fileprivate var number: Int { Int(name!)! }
}

/// A simple model of the rules.
private struct PolicyReference {
    struct Queue {
        let width: Int
        var limit: Int?
        var window: Int?
        var isSuspended = false
        var starts: [Duration] = []
    }

    struct Member {
        enum Phase { case outside, waiting, running, ended }
        enum Test { case none, isDue, isUnderWay, isDone }
        let queue: Int
        var phase = Phase.outside
        /// The position in the order of adding.
        var place = 0
        var isBarrier = false
        var key: String?
        var name: String?
        var units = 0
        var dependencies: [Int] = []
        var isCancelled = false
        var test = Test.none

        var isIn: Bool { phase == .waiting || phase == .running }
    }

    static let capacity = 3
    static let period = Duration.seconds(2)

    var members: [Member] = []
    var queues: [Queue] = []
    var mistakes: [String] = []
    private var lastPlace = 0

    func hasEntered(_ number: Int) -> Bool { members[number].phase != .outside }

    mutating func enter(_ number: Int) {
        lastPlace += 1
        members[number].place = lastPlace
        members[number].phase = .waiting
    }

    mutating func starts(_ number: Int, _ now: Duration) {
        let member = members[number]
        if let reason = reasonToWait(number, now) { mistakes.append("\(number) starts although \(reason)") }
        members[number].phase = .running
        if !member.isBarrier { queues[member.queue].starts.append(now) }
    }

    mutating func checkAtRest(_ now: Duration) {
        for number in members.indices where members[number].phase == .waiting && reasonToWait(number, now) == nil {
            // The first member in line for a resource is served first.
            let member = members[number]
            let hasRivals =
                !member.isCancelled
                && members.indices.contains { other in
                    other != number && members[other].phase == .waiting
                        && (member.name != nil && members[other].name == member.name
                            || member.units > 0 && members[other].units > 0)
                }
            if !hasRivals { mistakes.append("\(number) waits for nothing: \(member)") }
        }
    }

    /// Returns the reason why the member must wait by the rules; nil if it may start.
    private func reasonToWait(_ number: Int, _ now: Duration) -> String? {
        let member = members[number]
        let queue = queues[member.queue]
        let others = members.indices.filter { $0 != number && members[$0].queue == member.queue }.map { members[$0] }
        let running = others.filter { $0.phase == .running }
        if queue.isSuspended { return "its queue is suspended" }
        if others.contains(where: { $0.isIn && $0.place < member.place && ($0.isBarrier || member.isBarrier) }) {
            return "a barrier is between it and what came before"
        }
        if running.count >= (member.isBarrier ? 1 : queue.width) { return "no slot is free" }
        // Barriers and cancelled operations use no permit, but wait for one.
        if let window = queue.window, queue.starts.count(where: { now - $0 < Self.period }) >= window {
            return "the rate limit has no permit"
        }
        if member.isCancelled || member.isBarrier { return nil }
        if member.dependencies.contains(where: { members[$0].phase != .ended }) { return "a dependency has not ended" }
        if let limit = queue.limit, let key = member.key, running.count(where: { $0.key == key }) >= limit {
            return "its key is at its limit"
        }
        // A condition test that is due needs a start, and no resources.
        if member.test == .isDue { return nil }
        if member.test == .isUnderWay { return "its condition is being tested" }
        let holders = members.indices.filter { $0 != number && members[$0].phase == .running }.map { members[$0] }
        if let name = member.name, holders.contains(where: { $0.name == name }) { return "its name is in use" }
        let inUse = holders.reduce(0) { $0 + $1.units }
        if member.units > 0, inUse + member.units > Self.capacity { return "too few units are free" }
        return nil
    }
}
