import Operations

/// The permitted behavior of queues in the simplest form: lists that are searched at each question. It uses no threads
/// and no part of the library. Times are milliseconds.
struct ReferenceSystem {
    enum Phase { case idle, waitingForRoom, waiting, running, ended }
    enum Testing { case nothing, toTest, underWay }
    enum Member: Equatable {
        case operation(Int), barrier(Int)

        var operation: Int? { if case .operation(let number) = self { number } else { nil } }
    }

    struct Operation {
        var phase = Phase.idle
        var queue: Int?
        var key: Int?
        var priority = 0
        var dependencies: Set<Int> = []
        /// The resource and the number of units.
        var needs: [Int: Int] = [:]
        var hasCondition = false
        var testing = Testing.nothing
        /// The time of the condition, or the end of the last delay between two attempts.
        var notBefore = 0
        /// The delay after the attempt that has failed, until the operation releases its slot for it.
        var delay: Int?
        var isCancelled = false
        /// Whether the operation has a place in a queue with a capacity.
        var isBounded = false
        var startTime = 0
        /// The operation that its work waits for at this moment.
        var awaited: Int?
        var quality = QualityOfService.default
        var isPaused = false
        /// Whether its work has begun. An operation that is paused, or between two attempts, is one of the waiting ones again.
        var hasBegun = false
        /// Dependencies that were added while it ran. It does not wait for them, also when it is one of the waiting ones again.
        var ignored: Set<Int> = []
        var standing = Standing()
        /// Whether it was cancelled when it started or continued. A cancelled group starts too, because its children have to end. It
        /// has no turn under its key, and resources only to continue.
        var wasCancelledAtStart = false
        var hasTurn: Bool { phase == .running && queue != nil && !wasCancelledAtStart }
        var isHolding: Bool { phase == .running && queue != nil && (!wasCancelledAtStart || hasBegun) }
    }

    struct Queue {
        /// Operations and barriers that have not ended, in the order added.
        var line: [Member] = []
        var width = OperationQueue.defaultMaxThreadCount
        var isSuspended = false
        var limitPerKey: Int?
        var limits: [Int: Int] = [:]
        var rate: RandomProgram.Rate?
        /// The times of the starts under this rate.
        var starts: [Int] = []
        /// The capacity; nil if the queue never had one.
        var bound: Int?
        var overflow = OperationQueue.OverflowPolicy.reject
        var places = 0
        /// Operations that wait for a free place of the capacity, in order.
        var adders: [Int] = []
        var inherits = false
        /// Whether the operation that became ready last starts first.
        var isLast = false
        var starvationLimit: Int?
        /// How often in a row each priority has been passed over. Also counts when none of its operations could start.
        var passes: [Int: Int] = [:]
    }

    var operations: [Operation]
    var queues: [Queue]
    var capacities: [Int: Int]
    var now = 0
    /// The number of changes.
    var turn = 0

    /// Returns the reason for which the operation must not start now; nil when it may.
    func obstacle(_ number: Int, atRest: Bool = false) -> String? {
        let operation = operations[number]
        if operation.phase != .waiting, operation.phase != .idle { return "it is \(operation.phase)" }
        if let queue = operation.queue {
            if let obstacle = obstacle(ofQueue: queue) { return obstacle }
            if !front(of: queue).contains(number) { return "a barrier stands before it" }
        }
        if operation.isCancelled {
            if atRest, isOverRate(operation.queue) { return "the rate limit" }
            guard operation.hasBegun else { return nil }
        } else {
            if waitsForDependency(number) { return "a dependency" }
            if operation.isPaused { return "it is paused" }
            // An operation that is started by hand tests and waits for nothing else.
            guard operation.phase == .waiting, let queue = operation.queue else { return nil }
            if operation.testing == .underWay || !atRest && operation.testing == .toTest { return "its condition" }
            if operation.notBefore > now { return "it is too early" }
            if isOverRate(queue) { return "the rate limit" }
        }
        guard let queue = operation.queue else { return nil }
        if !operation.isCancelled, let key = operation.key,
            let limit = queues[queue].limits[key] ?? queues[queue].limitPerKey
        {
            let others = operations.filter { $0.hasTurn && $0.queue == queue && $0.key == key }
            if others.count >= limit { return "the limit of key \(key)" }
        }
        return fits(number) ? nil : "resources"
    }

    func obstacle(ofQueue queue: Int) -> String? {
        if queues[queue].isSuspended { return "its queue is suspended" }
        return running(in: queue).count >= queues[queue].width ? "the width" : nil
    }

    func obstacle(ofBarrier barrier: Int, in queue: Int) -> String? {
        if queues[queue].line.first != .barrier(barrier) { return "something stands before it" }
        return obstacle(ofQueue: queue)
    }

    /// The steps that remain until the system is at rest.
    func overdue(hasSleepers: Bool) -> [String] {
        var overdue: [String] = []
        for (number, queue) in queues.enumerated() where queue.rate == nil || !hasSleepers {
            if case .barrier(let barrier) = queue.line.first, obstacle(ofBarrier: barrier, in: number) == nil {
                overdue.append("barrier \(barrier) of queue \(number)")
            }
            for member in front(of: number) where obstacle(member, atRest: true) == nil {
                if isExempt(member) || !mayStandInLine(member) { overdue.append("operation \(member)") }
            }
        }
        return overdue
    }

    /// Whether another operation may stand in front of it in the line of a resource. Only operations that nothing but resources
    /// holds back stand in a line. An operation that needs more than the capacity does not block others
    /// from any resource.
    private func mayStandInLine(_ number: Int) -> Bool {
        var taken: Set<Int> = []
        let waiting = operations.indices.filter {
            operations[$0].phase == .waiting && !isExempt($0)
                && [nil, "resources"].contains(obstacle($0, atRest: true))
                && operations[$0].needs.allSatisfy { $1 <= capacities[$0]! }
        }
        for _ in waiting {
            for other in waiting where other != number {
                let needs = Set(operations[other].needs.keys)
                if !fits(other) || !needs.isDisjoint(with: taken) { taken.formUnion(needs) }
            }
        }
        return !taken.isDisjoint(with: operations[number].needs.keys)
    }

    /// Whether the operation ends without its work, and so needs nothing but a slot.
    private func isExempt(_ number: Int) -> Bool { operations[number].isCancelled && !operations[number].hasBegun }

    func front(of queue: Int) -> [Int] {
        queues[queue].line.prefix { $0.operation != nil }.compactMap(\.operation)
    }

    func running(in queue: Int) -> [Int] {
        operations.indices.filter { operations[$0].queue == queue && operations[$0].phase == .running }
    }

    private func fits(_ number: Int) -> Bool {
        operations[number].needs.allSatisfy { resource, units in
            operations.filter(\.isHolding).reduce(units) { $0 + ($1.needs[resource] ?? 0) } <= capacities[resource]!
        }
    }

    private func isOverRate(_ queue: Int?) -> Bool {
        guard let queue, let rate = queues[queue].rate else { return false }
        return !rate.permitsStart(at: now, after: queues[queue].starts)
    }

    mutating func joined(_ number: Int, queue: Int) {
        operations[number].phase = .waiting
        operations[number].queue = queue
        queues[queue].line.append(.operation(number))
        for dependency in operations[number].dependencies { mayBeLentLevel(dependency) }
    }

    mutating func started(_ number: Int) {
        operations[number].phase = .running
        if !operations[number].hasBegun { operations[number].startTime = now }
        operations[number].wasCancelledAtStart = operations[number].isCancelled
        if let queue = operations[number].queue, !operations[number].isCancelled { queues[queue].starts.append(now) }
    }

    mutating func ended(_ number: Int) {
        operations[number].phase = .ended
        guard let queue = operations[number].queue else { return }
        queues[queue].line.removeAll { $0 == .operation(number) }
        if operations[number].isBounded { queues[queue].places -= 1 }
        letAddersIn(queue)
    }

    mutating func letAddersIn(_ queue: Int) {
        while let bound = queues[queue].bound, queues[queue].places < bound, !queues[queue].adders.isEmpty {
            operations[queues[queue].adders.removeFirst()].isBounded = true
            queues[queue].places += 1
        }
    }

    /// Takes places for operations. Returns the operations that are cancelled in their favor, or nil when they are refused.
    mutating func takePlaces(_ newcomers: [Int], queue place: Int) -> [Int]? {
        let queue = queues[place]
        guard let bound = queue.bound else { return [] }
        let tooMany = min(newcomers.count, max(0, queue.places + newcomers.count - bound))
        let missing = queue.adders.isEmpty ? tooMany : newcomers.count
        var waiting = queue.line.compactMap(\.operation)
        waiting.removeAll {
            operations[$0].phase != .waiting || !operations[$0].isBounded || operations[$0].isCancelled
                || operations[$0].hasBegun
        }
        if queue.overflow == .dropLowest {
            waiting = waiting.reversed().enumerated().sorted {
                (priority(of: $0.element), $0.offset) < (priority(of: $1.element), $1.offset)
            }.map(\.element)
        }
        let victims = Array(waiting.prefix(missing))
        if missing > 0, queue.overflow == .reject || victims.count < missing { return nil }
        let lowest = newcomers.map { priority(of: $0, in: place) }.min()!
        if queue.overflow == .dropLowest, victims.contains(where: { priority(of: $0) > lowest }) { return nil }
        for victim in victims { operations[victim].isBounded = false }
        for newcomer in newcomers { operations[newcomer].isBounded = true }
        queues[place].places += newcomers.count - victims.count
        return victims
    }
}
