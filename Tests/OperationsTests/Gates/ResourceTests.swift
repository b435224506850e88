import Operations
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct ResourceTests {
    @Test func `no more units are in use than the capacity, across queues`() async throws {
        let pool = ResourcePool(["memory": 8])
        let queues = (0..<3).map { _ in OperationQueue() }
        let inUse = Guarded((now: 0, most: 0))
        for number in 0..<600 {
            let units = 1 + number % 8
            let operation = TaskOperation {
                inUse.withLock {
                    $0.now += units
                    $0.most = max($0.most, $0.now)
                }
                await Task.yield()
                inUse.withLock { $0.now -= units }
            }
            operation.addRequirement(.units(units, of: "memory", in: pool))
            queues[number % 3].addOperation(operation)
        }
        for queue in queues { await queue.waitUntilAllOperationsAreFinished() }
        #expect(inUse.withLock { $0.most } <= 8)
        #expect(pool.usage(of: "memory") == .init(capacity: 8, inUse: 0, waiting: 0))
    }

    @Test func `operations of one exclusive name run one at a time, across queues`() async {
        let queue = OperationQueue()
        let others = OperationQueue.serial()
        let counter = ConcurrencyCounter()
        for number in 0..<300 {
            let operation = BlockOperation {
                counter.enter()
                counter.leave()
            }
            operation.addRequirement(.exclusive("one at a time"))
            operation.addRequirement(.exclusive("one at a time"))
            (number.isMultiple(of: 2) ? queue : others).addOperation(operation)
        }
        await queue.waitUntilAllOperationsAreFinished()
        await others.waitUntilAllOperationsAreFinished()
        #expect(counter.most == 1 && counter.total == 300)
    }

    @Test func `no slot is held while waiting for a resource`() async {
        let serial = OperationQueue()
        serial.maxConcurrentOperationCount = 1
        let holder = HoldingOperation(.exclusive("no slot"))
        holder.name = "holder"
        OperationQueue().addOperation(holder)
        await holder.hasBegun.pass()
        let waiting = BlockOperation {}
        waiting.addRequirement(.exclusive("no slot"))
        serial.addOperation(waiting)
        let other = serial.addTask { 1 }
        await other.waitUntilFinished()
        #expect(!waiting.isFinished && !waiting.isExecuting)
        #expect(serial.explain(waiting).reasons == [.exclusion("no slot", heldBy: "HoldingOperation 'holder'")])
        #expect(serial.stallReport() == nil)
        holder.mayEnd.open()
        await waiting.waitUntilFinished()
    }

    @Test func `an operation that is paused in line lets others pass`() async {
        let (queue, name) = (OperationQueue.serial(), "a name of a paused operation")
        let holder = HoldingOperation(.exclusive(name))
        OperationQueue().addOperation(holder)
        await holder.hasBegun.pass()
        let (paused, other) = (TaskOperation {}, TaskOperation {})
        for operation in [paused, other] { operation.addRequirement(.exclusive(name)) }
        queue.addOperation(paused)
        // It stands in line when the next operation has run.
        await queue.addTask {}.waitUntilFinished()
        paused.pause()
        queue.addOperation(other)
        await queue.addTask {}.waitUntilFinished()
        holder.mayEnd.open()
        await other.waitUntilFinished()
        #expect(!paused.isFinished)
        paused.resume()
        await paused.waitUntilFinished()
    }

    @Test func `an operation that only overrides isCancelled does not run beside the holder of its name`() async {
        final class OwnFlag: Operation, @unchecked Sendable {
            let (flag, runs) = (Guarded(false), Journal<Int>())
            override var isCancelled: Bool { flag.withLock { $0 } }
            override func cancel() { flag.withLock { $0 = true } }
            override func main() { runs.append(0) }
        }
        let (queue, name) = (OperationQueue.serial(), "a name of an overridden isCancelled")
        let holder = HoldingOperation(.exclusive(name))
        OperationQueue().addOperation(holder)
        await holder.hasBegun.pass()
        let operation = OwnFlag()
        operation.addRequirement(.exclusive(name))
        operation.cancel()
        queue.addOperation(operation)
        await queue.addTask {}.waitUntilFinished()
        #expect(operation.runs.entries.isEmpty)
        holder.mayEnd.open()
        await operation.waitUntilFinished()
        #expect(operation.runs.entries.count == 1)
    }

    @Test(arguments: [false, true])
    func `no resource is held while a condition is tested`(addsConditionFirst: Bool) async {
        let pool = ResourcePool(["unit": 1])
        let (tests, mayEnd) = (AsyncGate(), AsyncGate())
        let condition = OperationCondition("gate") { _ in
            tests.open()
            await mayEnd.pass()
        }
        let operation = BlockOperation {}
        if addsConditionFirst { operation.addCondition(condition) }
        operation.addRequirement(.units(1, of: "unit", in: pool))
        if !addsConditionFirst { operation.addCondition(condition) }
        let queue = OperationQueue()
        queue.addOperation(operation)
        await tests.pass()
        #expect(pool.usage(of: "unit") == .init(capacity: 1, inUse: 0, waiting: 0))
        mayEnd.open()
        await operation.waitUntilFinished()
        #expect(pool.usage(of: "unit") == .init(capacity: 1, inUse: 0, waiting: 0))
    }

    @Test func `resources named in opposite orders, from several pools, do not deadlock`() async throws {
        let left = ResourcePool(["fork": 1, "spoon": 2])
        let right = ResourcePool(["fork": 1])
        let queues = (0..<2).map { _ in OperationQueue() }
        var random = SeededRandom(seed: 20_261_121)
        for number in 0..<Stress.rounds(2000, least: 500) {
            let operation = number.isMultiple(of: 3) ? TaskOperation { await Task.yield() } : BlockOperation {}
            var requirements: [OperationRequirement] = [
                .units(1, of: "fork", in: left), .units(1, of: "fork", in: right),
                .units(1 + random.below(2), of: "spoon", in: left), .exclusive("table \(random.below(3))"),
            ]
            requirements.shuffle(using: &random)
            for requirement in requirements.dropLast(random.below(4)) { operation.addRequirement(requirement) }
            queues[number % 2].addOperation(operation)
            if random.chance(5) { operation.cancel() }
        }
        for queue in queues { await queue.waitUntilAllOperationsAreFinished() }
        for name in ["fork", "spoon"] {
            let usage = try #require(left.usage(of: name))
            #expect(usage.inUse == 0 && usage.waiting == 0)
        }
    }

    /// The resource becomes free while the queue of the first in line is suspended.
    @Test func `operations of a suspended queue withhold no resource from other queues`() async {
        let suspended = OperationQueue()
        let running = OperationQueue()
        let holder = HoldingOperation(.exclusive("suspended"))
        running.addOperation(holder)
        await holder.hasBegun.pass()
        let first = CountingOperation()
        first.addRequirement(.exclusive("suspended"))
        suspended.addOperation(first)
        await first.asksForResources(in: suspended)
        let second = CountingOperation()
        second.addRequirement(.exclusive("suspended"))
        running.addOperation(second)
        await second.asksForResources(in: running)
        suspended.isSuspended = true
        holder.mayEnd.open()
        await second.waitUntilFinished()
        #expect(first.runCount == 0 && second.runCount == 1)
        suspended.isSuspended = false
        await first.waitUntilFinished()
    }

    /// The first in line is behind an operation that occupies its serial queue until the second in line has run.
    @Test func `an operation that gets no slot withholds no resource from others`() async {
        let serial = OperationQueue()
        serial.maxConcurrentOperationCount = 1
        let wide = OperationQueue()
        let holder = HoldingOperation(.exclusive("no slot to be had"))
        wide.addOperation(holder)
        await holder.hasBegun.pass()
        let first = CountingOperation()
        first.addRequirement(.exclusive("no slot to be had"))
        serial.addOperation(first)
        await first.asksForResources(in: serial)
        let second = CountingOperation()
        second.addRequirement(.exclusive("no slot to be had"))
        wide.addOperation(second)
        await second.asksForResources(in: wide)
        let begins = AsyncGate()
        let occupier = serial.addTask {
            begins.open()
            await second.waitUntilFinished()
        }
        await begins.pass()
        holder.mayEnd.open()
        await occupier.waitUntilFinished()
        await first.waitUntilFinished()
        #expect(first.runCount == 1 && second.runCount == 1)
    }

    /// As above, but the occupier arrives when the resource is already reserved for the first in line.
    @Test func `a reserved resource is released when another operation takes the slot`() async {
        let serial = OperationQueue()
        serial.maxConcurrentOperationCount = 1
        let wide = OperationQueue()
        for round in 0..<Stress.rounds(300, least: 100) {
            let name = "kept \(round)"
            let holder = HoldingOperation(.exclusive(name))
            wide.addOperation(holder)
            await holder.hasBegun.pass()
            let first = CountingOperation()
            let second = CountingOperation()
            first.addRequirement(.exclusive(name))
            second.addRequirement(.exclusive(name))
            serial.addOperation(first)
            wide.addOperation(second)
            let occupier = TaskOperation { await second.waitUntilFinished() }
            occupier.queuePriority = .veryHigh
            holder.mayEnd.open()
            serial.addOperation(occupier)
            await occupier.waitUntilFinished()
            await first.waitUntilFinished()
        }
    }

    @Test func `an operation that is cancelled while it waits leaves the line`() async throws {
        let pool = ResourcePool(["unit": 1])
        let queue = OperationQueue()
        let holder = HoldingOperation(.units(1, of: "unit", in: pool))
        queue.addOperation(holder)
        await holder.hasBegun.pass()
        let waiting = (0..<100).map { _ in
            let operation = CountingOperation()
            operation.addRequirement(.units(1, of: "unit", in: pool))
            queue.addOperation(operation)
            return operation
        }
        for operation in waiting.dropLast() {
            operation.cancel()
            await operation.waitUntilFinished()
        }
        holder.mayEnd.open()
        await queue.waitUntilAllOperationsAreFinished()
        #expect(waiting.map(\.runCount).reduce(0, +) == 1)
        #expect(pool.usage(of: "unit") == .init(capacity: 1, inUse: 0, waiting: 0))
    }

    @Test func `capacity is changed while operations run and wait`() async throws {
        let pool = ResourcePool(["unit": 1])
        let queue = OperationQueue()
        let holders = (0..<4).map { _ in HoldingOperation(.units(1, of: "unit", in: pool)) }
        queue.addOperation(holders[0])
        await holders[0].hasBegun.pass()
        // The first request is served first. Operations that become ready at the same time may request in any order.
        for holder in holders.dropFirst() {
            queue.addOperation(holder)
            await holder.asksForResources(in: queue)
        }
        pool.setCapacity(3, of: "unit")
        await holders[1].hasBegun.pass()
        await holders[2].hasBegun.pass()
        pool.setCapacity(0, of: "unit")
        for holder in holders.prefix(3) { holder.mayEnd.open() }
        for holder in holders.prefix(3) { await holder.waitUntilFinished() }
        #expect(!holders[3].isExecuting)
        pool.setCapacity(1, of: "unit")
        holders[3].mayEnd.open()
        await holders[3].waitUntilFinished()
    }

    /// The first in line, with its dependency, waits for the second in line.
    @Test func `an operation that is not ready withholds no resource from its dependencies`() async throws {
        for units in [1, 2] {
            let pool = ResourcePool(["x": 2])
            let queue = OperationQueue()
            let holder = HoldingOperation(.units(units, of: "x", in: pool))
            queue.addOperation(holder)
            await holder.hasBegun.pass()
            let first = CountingOperation()
            first.addRequirement(.units(2, of: "x", in: pool))
            queue.addOperation(first)
            await first.asksForResources(in: queue)
            let second = CountingOperation()
            second.addRequirement(.units(1, of: "x", in: pool))
            first.addDependency(second)
            queue.addOperation(second)
            holder.mayEnd.open()
            await first.waitUntilFinished()
            #expect(first.runCount == 1 && second.runCount == 1)
        }
    }

    /// The first in line is already in its queue's inbox, because its priority has changed, and no worker looks there.
    @Test func `a resource reserved for an operation in the inbox of a busy queue is released`() async {
        let (serial, wide) = (OperationQueue.serial(), OperationQueue())
        let holder = HoldingOperation(.exclusive("inbox"))
        wide.addOperation(holder)
        await holder.hasBegun.pass()
        let first = CountingOperation()
        first.addRequirement(.exclusive("inbox"))
        serial.addOperation(first)
        await first.asksForResources(in: serial)
        let second = CountingOperation()
        second.addRequirement(.exclusive("inbox"))
        let begins = AsyncGate()
        serial.addTask {
            begins.open()
            await second.waitUntilFinished()
        }
        await begins.pass()
        first.queuePriority = .high
        wide.addOperation(second)
        await second.asksForResources(in: wide)
        holder.mayEnd.open()
        await first.waitUntilFinished()
        #expect(second.runCount == 1)
    }

    /// A worker that finds an operation pinned removes the operation from the line, perhaps late. The operation may have
    /// requested again meanwhile, and then it is rightly in the line.
    @Test(.tags(.slow), arguments: [Disturbance.explaining, .depending])
    fileprivate func `an operation that is pinned while it requests resources is not forgotten`(
        _ disturbance: Disturbance
    ) async {
        let queue = OperationQueue()
        for round in 0..<Stress.rounds(1000, least: 50) {
            let holder = HoldingOperation(.exclusive("pinned \(round)"))
            queue.addOperation(holder)
            await holder.hasBegun.pass()
            let operations = (0..<3).map { _ in
                let operation = CountingOperation()
                operation.addRequirement(.exclusive("pinned \(round)"))
                return operation
            }
            let disturbers = operations.map { operation in
                TestThread {
                    var isLast = false
                    // Again after the holder has ended.
                    while !isLast {
                        isLast = holder.isFinished
                        disturbance.disturb(operation, in: queue)
                    }
                }
            }
            for operation in operations { queue.addOperation(operation) }
            for _ in 0..<(round % 50) { pause() }
            holder.mayEnd.open()
            for disturber in disturbers { disturber.join() }
            for operation in operations { await operation.waitUntilFinished() }
            #expect(operations.allSatisfy { $0.runCount == 1 })
        }
    }

    @Test(.tags(.slow)) func `an offer passes along a line of any length when no operation of it can start`() async {
        let (suspended, running) = (OperationQueue(), OperationQueue())
        let holder = HoldingOperation(.exclusive("long line"))
        running.addOperation(holder)
        await holder.hasBegun.pass()
        let waiting = (0..<Stress.rounds(40_000, least: 4_000)).map { _ in
            let operation = CountingOperation()
            operation.addRequirement(.exclusive("long line"))
            suspended.addOperation(operation)
            return operation
        }
        await waiting.last!.asksForResources(in: suspended)
        suspended.isSuspended = true
        let last = CountingOperation()
        last.addRequirement(.exclusive("long line"))
        running.addOperation(last)
        holder.mayEnd.open()
        await last.waitUntilFinished()
        suspended.cancelAllOperations()
        suspended.isSuspended = false
        await suspended.waitUntilAllOperationsAreFinished()
    }

    @Test func `an end announced while resources are requested loses no resource`() async {
        let queue = OperationQueue()
        for round in 0..<Stress.rounds(3000, least: 300) {
            let early = EarlyOperation()
            early.addRequirement(.exclusive("early \(round)"))
            queue.addOperation(early)
            for _ in 0..<(round % 50) { pause() }
            early.end()
            let next = CountingOperation()
            next.addRequirement(.exclusive("early \(round)"))
            queue.addOperation(next)
            await next.waitUntilFinished()
        }
    }

    @Test func `a requirement added while an operation is repeatedly put back delays it, and is not misuse`()
        async throws
    {
        let queue = OperationQueue()
        for round in 0..<Stress.rounds(1000, least: 120) {
            let holder = HoldingOperation(.exclusive("window \(round)"))
            queue.addOperation(holder)
            await holder.hasBegun.pass()
            let log = Journal<String>()
            let operation = BlockOperation { log.append("operation") }
            operation.addRequirement(.exclusive("window \(round)"))
            let dependency = BlockOperation { log.append("dependency") }
            queue.addOperation(operation)
            for _ in 0..<(round % 40) { pause() }
            operation.addDependency(dependency)
            try operation.tryAddRequirement(.exclusive("other window \(round)"))
            try operation.tryAddCondition(OperationCondition("logs") { _ in log.append("condition") })
            operation.queuePriority = .high
            holder.mayEnd.open()
            queue.addOperation(dependency)
            await operation.waitUntilFinished()
            if log.entries != ["dependency", "condition", "operation"] {
                // The condition may have been tested before the dependency was added.
                if log.entries != ["condition", "dependency", "operation"] {
                    Issue.record("round \(round): \(log.entries)")
                }
            }
        }
    }

    @Test func `an exclusive name that two threads add at once counts once`() async {
        for _ in 0..<500 {
            let operation = CountingOperation()
            let (start, threads) = (Gate(2), 2)
            let adders = (0..<threads).map { _ in
                TestThread {
                    start.meet()
                    operation.addRequirement(.exclusive("twice"))
                }
            }
            for adder in adders { adder.join() }
            await OperationQueue().addOperations([operation], waitUntilFinished: true)
        }
    }

    @Test func `a requirement that only a lowered capacity exceeds is no misuse, and waits`() async throws {
        let pool = ResourcePool(["places": 2])
        pool.setCapacity(0, of: "places")
        let operation = BlockOperation {}
        operation.addRequirement(try .tryUnits(1, of: "places", in: pool))
        try operation.tryAddRequirement(.units(1, of: "places", in: pool))
        #expect(throws: OperationError.self) { try operation.tryAddRequirement(.units(1, of: "places", in: pool)) }
        #expect(throws: ResourceError.exceedsCapacity(resource: "places", units: 3, capacity: 2)) {
            _ = try OperationRequirement.tryUnits(3, of: "places", in: pool)
        }
        OperationQueue().addOperation(operation)
        while pool.usage(of: "places")?.waiting != 1, !Task.isCancelled { await Task.yield() }
        pool.setCapacity(2, of: "places")
        await operation.waitUntilFinished()
    }

    @Test func `invalid requirements are errors that name a remedy`() throws {
        let pool = ResourcePool(["memory": 8, "gpu": 1])
        #expect(throws: ResourceError.unknownResource(resource: "disk", known: ["gpu", "memory"])) {
            _ = try OperationRequirement.tryUnits(1, of: "disk", in: pool)
        }
        for units in [0, -3] {
            #expect(throws: ResourceError.unitsNotPositive(resource: "gpu", units: units)) {
                _ = try OperationRequirement.tryUnits(units, of: "gpu", in: pool)
            }
        }
        #expect(throws: ResourceError.exceedsCapacity(resource: "gpu", units: 2, capacity: 1)) {
            _ = try OperationRequirement.tryUnits(2, of: "gpu", in: pool)
        }
        let operation = Operation()
        operation.addRequirement(.units(5, of: "memory", in: pool))
        #expect(throws: OperationError.self) { try operation.tryAddRequirement(.units(5, of: "memory", in: pool)) }
        operation.addRequirement(.units(3, of: "memory", in: pool))
        let largest = ResourcePool(["bytes": .max])
        operation.addRequirement(.units(.max, of: "bytes", in: largest))
        #expect(throws: OperationError.self) { try operation.tryAddRequirement(.units(.max, of: "bytes", in: largest)) }
    }

    @Test func `every operation runs or is skipped once, despite cancellations, suspensions and changes`()
        async throws
    {
        let pool = ResourcePool(["unit": 3, "other": 2])
        var random = SeededRandom(seed: 7)
        for _ in 0..<Stress.rounds(20, least: 4) {
            let queues = (0..<3).map { index in
                let queue = OperationQueue()
                if index > 0 { queue.maxConcurrentOperationCount = index }
                return queue
            }
            var operations: [CountingOperation] = []
            for number in 0..<150 {
                let operation = CountingOperation()
                if random.chance(70) {
                    operation.addRequirement(.units(1 + random.below(3), of: "unit", in: pool))
                }
                if random.chance(40) { operation.addRequirement(.units(1, of: "other", in: pool)) }
                if random.chance(20) {
                    operation.addCondition(OperationCondition("yields") { _ in await Task.yield() })
                }
                if random.chance(20), let last = operations.last { operation.addDependency(last) }
                if random.chance(20) { operation.queuePriority = .high }
                operations.append(operation)
                queues[number % 3].addOperation(operation)
                if random.chance(10) { random.pick(operations).cancel() }
                if random.chance(10) { random.pick(queues).isSuspended.toggle() }
                if random.chance(5) { pool.setCapacity(3 + random.below(3), of: "unit") }
                if random.chance(5) { await Task.yield() }
            }
            for queue in queues { queue.isSuspended = false }
            for queue in queues { await queue.waitUntilAllOperationsAreFinished() }
            #expect(operations.allSatisfy { $0.isFinished && $0.runCount == ($0.isCancelled ? $0.runCount : 1) })
            for name in ["unit", "other"] {
                let usage = try #require(pool.usage(of: name))
                #expect(usage.inUse == 0 && usage.waiting == 0)
            }
        }
    }
}

/// Holds its requirements until the test ends it.
private final class HoldingOperation: AsyncOperation, @unchecked Sendable {
    let hasBegun = AsyncGate()
    let mayEnd = AsyncGate()

    init(_ requirement: OperationRequirement) {
        super.init()
        addRequirement(requirement)
    }

    override func run() async throws {
        hasBegun.open()
        await mayEnd.pass()
    }
}

/// Ends when the test ends it, started or not.
private final class EarlyOperation: Operation, @unchecked Sendable {
    private let isOver = Guarded(false)
    override var isFinished: Bool { isOver.withLock { $0 } || super.isFinished }

    func end() {
        willChangeValue(for: \.isFinished)
        isOver.withLock { $0 = true }
        didChangeValue(for: \.isFinished)
    }
}

/// An outside event for an operation that is requesting resources.
private enum Disturbance: Sendable {
    case explaining, depending

    func disturb(_ operation: Operation, in queue: OperationQueue) {
        switch self {
        case .explaining: _ = queue.explain(operation)
        case .depending:
            let dependency = Operation()
            operation.addDependency(dependency)
            operation.removeDependency(dependency)
        }
    }
}

/// Uses some time.
private func pause() { for _ in 0..<20 { _ = Guarded(0).withLock { $0 } } }

extension Operation {
    /// Suspends until the operation has requested its resources and was refused.
    fileprivate func asksForResources(in queue: OperationQueue) async {
        while true {
            let reasons = queue.explain(self).reasons
            let isRefused = reasons.contains {
                switch $0 {
                case .exclusion, .resource: true
                default: false
                }
            }
            if isRefused { return }
            await Task.yield()
        }
    }
}
