import Operations
import TestSupport

/// A random program over several queues: the operations and the calls in order. A plain value that follows from a seed.
/// Operations, barriers and queues are identified by numbers. Times are milliseconds.
struct RandomProgram: Sendable {
    static let queueCount = 3
    static let keyCount = 2
    /// The number of operations.
    static let size = 24
    /// The units of the one resource.
    static let capacity = 3

    enum Kind: Sendable, CaseIterable { case block, main, classic, task, group, retry, pausing }

    enum Condition: Sendable, Equatable { case none, holds(steps: Int), fails(steps: Int), notBefore(Int) }

    struct Plan: Sendable {
        var kind = Kind.block
        /// The only queue that the program adds the operation to.
        var queue = 0
        var key: Int?
        var priority = Operation.QueuePriority.normal
        var quality = QualityOfService.default
        var units = 0
        var exclusiveName: Int?
        var condition = Condition.none
        var failurePolicy = DependencyFailurePolicy.runAnyway
        var timeout: Int?
        var deadline: Int?
        var fails = false
        /// The number of suspensions of the work, and the time of each sleep.
        var sleeps: [Int] = []
        /// The calls of the work.
        var call: Call?
        /// The operation that the work awaits after its call. An earlier one, so that no two can await each other's end once
        /// both have started.
        var awaited: Int?
        /// The delay between two attempts.
        var delay: Int { (sleeps.first ?? 0) < 10 ? 0 : 4 }
    }

    enum Call: Sendable {
        case add(Int)
        case addBatch([Int])
        case addWhenRoom(Int)
        case addBarrier(Int, queue: Int)
        case depend(Int, on: Int)
        case removeDependency(Int, on: Int)
        case cancel(Int)
        case cancelAll(queue: Int)
        case setPriority(Int, Operation.QueuePriority)
        /// The order of operations with the same priority, and the starvation limit.
        case setOrder(isLast: Bool, starvationLimit: Int?, queue: Int)
        case pause(Int)
        case resume(Int)
        case setWidth(Int, queue: Int)
        case setSuspended(Bool, queue: Int)
        case setLimitPerKey(Int?, queue: Int)
        case setLimit(Int?, key: Int, queue: Int)
        case setRateLimit(Rate?, queue: Int)
        case setCapacity(Int?, OperationQueue.OverflowPolicy, queue: Int)
        case setUnits(Int)
        case startByHand(Int)
        /// Ends an operation in the classic style that executes.
        case end(Int)
        case wait(Int)
        case waitForAll(queue: Int)
        /// Steps of the manual executor.
        case step(Int)
        /// Moves the virtual clock to the next sleeper.
        case advance
    }

    struct Rate: Sendable {
        var count: Int
        var period: Int
        /// The burst of a token bucket; nil for a sliding window.
        var burst: Int?

        /// Whether one more operation may start after these starts. Counts all of them again.
        func permitsStart(at now: Int, after starts: [Int]) -> Bool {
            guard let burst else { return starts.count { now - $0 < period } < count }
            var (permits, last) = (Double(burst), starts.first ?? now)
            for start in starts + [now] {
                permits = min(Double(burst), permits + Double((start - last) * count) / Double(period)) - 1
                last = start
            }
            return permits > -1e-9
        }
    }

    let seed: UInt64
    /// Whether the operations of each queue inherit priorities, from the beginning.
    var inherits: [Bool] = []
    /// Whether the tasks of each queue are created early.
    var inheritsTaskContext: [Bool] = []
    var plans: [Plan] = []
    var barriers: [Call?] = []
    var calls: [Call] = []

    init(seed: UInt64) {
        self.seed = seed
        var random = SeededRandom(seed: seed)
        // A seed uses only a few features, each often. So programs differ, and combinations are frequent.
        let features = (0..<13).map { _ in random.chance(45) }
        inherits = (0..<Self.queueCount).map { _ in features[11] && random.chance(60) }
        inheritsTaskContext = (0..<Self.queueCount).map { _ in random.chance(60) }
        plans = (0..<Self.size).map { _ in Self.plan(features, &random) }
        for number in plans.indices where random.chance(20) {
            plans[number].call = call(features, &random, inWork: true)
        }
        // Without service levels: an operation that awaits another would lend its level.
        for number in plans.indices.dropFirst() where features[12] && !features[8] && plans[number].kind == .task {
            let awaited = random.below(number)
            // Work that pauses, or waits for its next attempt, needs its resources to continue, also to end after a cancellation.
            // An operation that holds them and awaits it would wait for ever.
            if random.chance(50), ![.pausing, .retry].contains(plans[awaited].kind) { plans[number].awaited = awaited }
        }
        for number in plans.indices {
            for _ in 0..<random.below(4) { calls.append(call(features, &random, inWork: false)) }
            if number > 0, random.chance(40) { calls.append(.depend(number, on: random.below(number))) }
            switch random.below(20) {
            case 0: calls.append(.addWhenRoom(number))
            case 1 where number > 2: calls.append(.addBatch([number, number - 1]))
            default: calls.append(.add(number))
            }
        }
        calls = random.chance(30) ? calls.shuffled(using: &random) : calls
    }

    private static func plan(_ features: [Bool], _ random: inout SeededRandom) -> Plan {
        var plan = Plan()
        plan.kind = features[0] ? random.pick(Kind.allCases) : random.pick([.block, .main, .task])
        plan.queue = random.below(random.chance(50) ? 1 : queueCount)
        if features[1], random.chance(50) { plan.key = random.below(keyCount) }
        if features[9], random.chance(30) { plan.kind = .pausing }
        if random.chance(features[10] || features[11] ? 60 : 30) {
            plan.priority = random.pick(Operation.QueuePriority.allCases)
        }
        if features[8], random.chance(60) {
            plan.quality = random.pick([.userInteractive, .userInitiated, .utility, .background])
        }
        if features[2], random.chance(40) { plan.units = 1 + random.below(capacity) }
        if features[2], random.chance(25) { plan.exclusiveName = random.below(2) }
        if features[3], random.chance(35) {
            plan.condition = random.pick([
                .holds(steps: 0), .holds(steps: 2), .holds(steps: 3), .fails(steps: 1),
                .notBefore(random.below(60)),
            ])
        }
        if features[4], random.chance(25) { plan.failurePolicy = random.pick([.cancel, .fail]) }
        if features[4], random.chance(20) { plan.timeout = 1 + random.below(40) }
        if features[4], random.chance(15) { plan.deadline = 1 + random.below(80) }
        plan.fails = features[4] && random.chance(20)
        plan.sleeps = (0..<random.below(3)).map { _ in random.below(30) }
        return plan
    }

    private mutating func call(_ features: [Bool], _ random: inout SeededRandom, inWork: Bool) -> Call {
        let (operation, queue) = (random.below(plans.count), random.below(Self.queueCount))
        switch random.below(inWork ? 37 : 55) {
        case 0...2: return .cancel(operation)
        case 3 where random.chance(40): return .cancelAll(queue: queue)
        case 3...4: return .setPriority(operation, random.pick(Operation.QueuePriority.allCases))
        case 5...7: return .setWidth(random.pick([0, 1, 1, 2, 3]), queue: queue)
        case 8...9: return .setSuspended(random.chance(40), queue: queue)
        case 10...12 where features[5]:
            barriers.append(nil)
            return .addBarrier(barriers.count - 1, queue: queue)
        case 13 where features[1]: return .setLimitPerKey(random.pick([1, 2, nil]), queue: queue)
        case 14 where features[1]:
            return .setLimit(random.pick([1, 2, nil]), key: random.below(Self.keyCount), queue: queue)
        case 15 where features[6]:
            let burst = random.chance(50) ? 1 + random.below(2) : nil
            // Each permit arrives at a whole millisecond.
            let rate = Rate(count: 1 + random.below(3), period: 12, burst: burst)
            return .setRateLimit(random.chance(70) ? rate : nil, queue: queue)
        case 16 where features[7]:
            let bound = random.chance(80) ? 2 + random.below(4) : nil
            return .setCapacity(bound, random.pick([.reject, .dropOldest, .dropLowest]), queue: queue)
        case 17 where features[2]: return .setUnits(random.below(Self.capacity + 2))
        case 18...19: return .startByHand(operation)
        case 20...21 where operation > 0: return .depend(operation, on: random.below(operation))
        case 22 where operation > 0: return .removeDependency(operation, on: random.below(operation))
        case 23...25: return .end(operation)
        case 26...29: return .add(operation)
        case 30...32 where features[9]: return .pause(operation)
        case 33...34 where features[9]: return .resume(operation)
        case 35...36 where features[10]:
            return .setOrder(
                isLast: random.chance(50), starvationLimit: random.pick([nil, 1, 2, 4]), queue: queue)
        case 37...38: return .wait(operation)
        case 39: return .waitForAll(queue: queue)
        case 40...43: return .advance
        default: return .step(1 + random.below(6))
        }
    }
}

extension RandomProgram: CustomStringConvertible {
    /// The calls, and the special properties of each operation.
    var description: String {
        let plans = plans.enumerated().map { "operation \($0.offset): \($0.element)" }
        return (calls.map { "\($0)" } + plans).map { "    \($0)" }.joined(separator: "\n")
    }
}

extension RandomProgram.Plan: CustomStringConvertible {
    var description: String {
        let plain = Mirror(reflecting: RandomProgram.Plan()).children.map { "\($0.value)" }
        let own = zip(Mirror(reflecting: self).children, plain).filter { "\($0.value)" != $1 }
        return (own.map { "\($0.0.label!) \($0.0.value)" } + ["\(kind) in queue \(queue)"]).reversed().joined(
            separator: ", ")
    }
}
