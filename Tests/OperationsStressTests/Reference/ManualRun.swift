import Operations
import OperationsTesting
import TestSupport

/// Runs a random program under a manual executor, and compares each step with the reference.
final class ManualRun: ProgramRun, @unchecked Sendable {
    // Sendable: used on one thread.
    let program: RandomProgram
    let executor: ManualExecutor
    let clock = VirtualClock()
    let pool: ResourcePool
    var operations: [Operation] = []
    var queues: [OperationQueue] = []
    var reference: ReferenceSystem
    var hasReturned: Set<Int> = []
    var completions: [Int: Int] = [:]
    var children: [Int: Int] = [:]
    /// The dependencies that operations had when they were added, and have had since.
    var earlyDependencies: [Int: Set<Int>] = [:]
    var barriersAdded: [Int: Int] = [:]
    var barriersRun: Set<Int> = []
    /// The waiting tasks, and the events that they wait for. Resumed tasks are removed.
    var waiters: [Int: (operations: Set<Int>, queue: Int?)] = [:]
    var lastWaiter = 0
    var isStepping = false
    /// Whether the program has ended, so that work makes no more calls.
    var isClosing = false
    /// The calls and events, described only if the run fails.
    private var history: [Entry] = []
    /// The first difference.
    var difference: String?
    var position = 0

    /// Returns the difference from the reference and the number of calls before it; nil when there is no difference.
    static func difference(of program: RandomProgram) -> (calls: Int, what: String)? {
        let run = ManualRun(program)
        run.runAll()
        let remains = run.release()
        if run.difference == nil, !remains.areGoneSoon() { run.difference = "an operation or a queue remains" }
        return run.difference.map { (run.position, $0) }
    }

    init(_ program: RandomProgram) {
        self.program = program
        executor = ManualExecutor(seed: program.seed)
        pool = ResourcePool(["units": RandomProgram.capacity])
        reference = ReferenceSystem(
            operations: program.plans.map(ReferenceSystem.Operation.init), queues: [],
            capacities: [0: RandomProgram.capacity, 1: 1, 2: 1])
        for _ in 0..<RandomProgram.queueCount {
            queues.append(executor.makeQueue())
            reference.queues.append(.init())
            let inherits = program.inherits[queues.count - 1]
            reference.queues[queues.count - 1].inherits = inherits
            queues[queues.count - 1].priorityPolicy = .init(inheritsPriority: inherits)
            queues[queues.count - 1].inheritsTaskContext = program.inheritsTaskContext[queues.count - 1]
        }
        let names = (1...2).map { "reference \(program.seed) \($0) \(ObjectIdentifier(self))" }
        for (number, plan) in program.plans.enumerated() {
            operations.append(
                try! plan.makeOperation(number, for: self, pool: pool, names: names, clock: clock))
            if case .notBefore(let time) = plan.condition {
                operations[number].addCondition(.notBefore(.init(offset: .milliseconds(time)), clock: clock))
            }
            if let deadline = plan.deadline {
                operations[number].setDeadline(.init(offset: .milliseconds(deadline)), clock: clock)
            }
        }
    }

    func fail(_ what: String) {
        guard difference == nil else { return }
        difference = what + "; before that: " + history.suffix(20).map(\.description).joined(separator: ", ")
    }

    func note(_ event: StaticString, _ number: Int? = nil) { history.append(.event(event, number)) }

    func note(_ call: RandomProgram.Call) { history.append(.call(call)) }

    private enum Entry: CustomStringConvertible {
        case call(RandomProgram.Call)
        case event(StaticString, Int?)

        var description: String {
            switch self {
            case .call(let call): "\(call)"
            case .event(let event, let number): number.map { "\(event) \($0)" } ?? "\(event)"
            }
        }
    }

    // MARK: - The course

    func runAll() {
        for call in program.calls where difference == nil {
            perform(call)
            position += 1
        }
        settle()
        isClosing = true
        open()
        settle()
        // The remaining operations wait for operations in no queue, or behind a barrier.
        for number in operations.indices { perform(.cancel(number)) }
        for number in operations.indices { perform(.add(number)) }
        settle()
        for (number, operation) in reference.operations.enumerated() {
            if operation.queue != nil, operation.phase != .ended { fail("operation \(number) never ended") }
            if operation.phase == .ended, completions[number] != 1 {
                fail("operation \(number) completed \(completions[number] ?? 0) times")
            }
        }
        for barrier in barriersAdded.keys where !barriersRun.contains(barrier) { fail("barrier \(barrier) never ran") }
        if !waiters.isEmpty { fail("\(waiters.count) tasks wait for ever") }
    }

    /// Removes everything that delays operations.
    func open() {
        for number in queues.indices {
            for call: RandomProgram.Call in [
                .setWidth(8, queue: number), .setLimitPerKey(nil, queue: number), .setRateLimit(nil, queue: number),
                .setLimit(nil, key: 0, queue: number), .setLimit(nil, key: 1, queue: number),
                .setSuspended(false, queue: number),
            ] { perform(call) }
            if reference.queues[number].bound != nil { perform(.setCapacity(nil, .reject, queue: number)) }
        }
        perform(.setUnits(RandomProgram.capacity))
        for number in operations.indices { perform(.resume(number)) }
    }

    /// Runs until no step is left, and ends operations that wait for their end.
    func settle() {
        repeat {
            rest()
            for number in operations.indices where reference.operations[number].phase == .running {
                perform(.end(number))
            }
        } while difference == nil && (executor.pendingCount > 0 || clock.advanceToNextSleeper())
    }

    func rest() {
        while step() { observe() }
        guard difference == nil else { return }
        if let first = reference.overdue(hasSleepers: clock.sleeperCount > 0).first { fail("\(first) does not start") }
        for (number, operation) in reference.operations.enumerated() where !operation.isCancelled {
            if isOverTime(number) { fail("operation \(number) is over its time limit and not cancelled") }
            if operation.delay != nil { fail("operation \(number) keeps its slot between two attempts") }
        }
        for waiter in waiters.values {
            let isDue = waiter.operations.allSatisfy { reference.operations[$0].phase == .ended }
            if waiter.queue.map({ reference.queues[$0].line.isEmpty }) ?? isDue {
                fail("a task waits for what has ended")
            }
        }
        compareExplanations()
        // An explanation may make workers look again at operations that it has pinned.
        while step() { observe() }
    }

    func release() -> [Weak] {
        let remains = operations.map { Weak($0) } + queues.map { Weak($0) }
        operations = []
        queues = []
        return remains
    }
}

// The calls of the operations' work.
extension ManualRun {
    func began(_ number: Int) {
        observe(except: number)
        if reference.operations[number].isCancelled { fail("the cancelled operation \(number) runs") }
        start(number)
        if let call = program.plans[number].call, !isClosing { perform(call) }
    }

    func returned(_ number: Int) {
        if !hasReturned.insert(number).inserted { fail("operation \(number) ran twice") }
    }

    func reachesPause(_ number: Int) {
        observe()
        guard reference.pauses(number) else { return }
        note("pause of", number)
    }

    func attemptFailed(_ number: Int) {
        if program.plans[number].delay > 0 { reference.operations[number].delay = program.plans[number].delay }
        note("failed attempt of", number)
    }

    func continues(_ number: Int) {
        observe(except: number)
        if program.plans[number].kind == .retry, reference.operations[number].isCancelled {
            fail("the cancelled operation \(number) makes another attempt")
        }
        if reference.operations[number].phase == .waiting { start(number) }
    }

    func conditionBegan(_ number: Int) {
        observe()
        let operation = reference.operations[number]
        if operation.testing != .toTest { fail("the condition of operation \(number) is tested again") }
        // An operation that was cancelled just before may end meanwhile.
        if !operation.isCancelled, operation.phase != .waiting {
            fail("the condition of operation \(number), which is \(operation.phase), is tested")
        }
        // A dependency that is added later may be too late for the test.
        let dependencies = operation.dependencies.intersection((earlyDependencies[number] ?? []))
        if !operation.isCancelled, dependencies.contains(where: { reference.operations[$0].phase != .ended }) {
            fail("the condition of operation \(number) is tested before its dependencies have ended")
        }
        reference.operations[number].testing = .underWay
        note("test begins of", number)
    }

    func conditionEnded(_ number: Int, holds: Bool) {
        reference.operations[number].testing = .nothing
        note("test ends of", number)
    }

    func completed(_ number: Int) {
        if !operations[number].isFinished { fail("operation \(number) completes before its end") }
        completions[number, default: 0] += 1
    }

    func executes(_ operation: ClassicOperation, _ number: Int) {}

    func awaits(_ other: Int, in number: Int) async {
        // The holder of the only slot must not wait for another operation of its queue.
        let queue = program.plans[number].queue
        guard program.plans[other].queue != queue || reference.queues[queue].width > 1 else { return }
        note("wait of", number)
        reference.operations[number].awaited = other
        reference.lend(Task.currentPriority, to: other)
        await operations[other].waitUntilFinished()
        reference.operations[number].awaited = nil
        observe()
        if reference.operations[other].phase != .ended, !reference.operations[number].isCancelled {
            fail("the work of operation \(number) continues before the awaited operation \(other) has ended")
        }
    }

    func childRan(of number: Int) {
        children[number, default: 0] += 1
        if children[number]! > program.plans[number].sleeps.count { fail("a child of group \(number) ran twice") }
    }
}

extension ReferenceSystem.Operation {
    init(_ plan: RandomProgram.Plan) {
        priority = plan.priority.rawValue
        quality = plan.quality
        if plan.units > 0 { needs[0] = plan.units }
        if let name = plan.exclusiveName { needs[1 + name] = 1 }
        hasCondition = plan.condition != .none
        switch plan.condition {
        case .none: break
        case .holds, .fails: testing = .toTest
        case .notBefore(let time): notBefore = time
        }
    }
}
