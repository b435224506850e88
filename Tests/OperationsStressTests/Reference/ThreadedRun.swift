import Operations
import OperationsTesting
import TestSupport

/// A run of a random program on threads. Three threads of the test make the calls, and the queues do the work. Conditions
/// that hold at any time are checked at each start. At the end every operation has ended once.
final class ThreadedRun: ProgramRun, @unchecked Sendable {
    // Sendable: the state that changes is behind a lock, or is written before the threads begin and after they have ended.
    private static let width = 3
    private static let limitPerKey = 2
    /// In seconds.
    private static let patience = 20

    private struct Board {
        /// The operations that a thread adds or has added, and the operations that it has added by now.
        var claimed: Set<Int> = []
        var joined: Set<Int> = []
        var keyed: Set<Int> = []
        /// Dependencies that an operation had before it was added.
        var dependencies: [Int: Set<Int>] = [:]
        /// Dependencies that were removed at some time, in pairs. A thread may remove one that another thread is adding.
        var removed: Set<[Int]> = []
        var running: Set<Int> = []
        /// Operations that were cancelled during a pause or a delay. They continue without a turn under their key.
        var withoutTurn: Set<Int> = []
        var runs: [Int: Int] = [:]
        var completions: [Int: Int] = [:]
        var barriers: [Int: Int] = [:]
        var barriersJoined: Set<Int> = []
        var barriersRun: Set<Int> = []
        var barrierRunning: Set<Int> = []
        /// The barriers that an operation was added behind.
        var inFront: [Int: Set<Int>] = [:]
        var waiters = 0
        var isClosing = false
        var faults: [String] = []
        /// The last error of a queue that did not accept an operation.
        var refusal = ""
    }

    private let program: RandomProgram
    /// Other tests of the process may occupy all threads of the runtime. So neither sleeps nor tasks of this run use them.
    private let clock = OperationClock()
    private let tasks = OperationQueue()
    private let pool = ResourcePool(["units": RandomProgram.capacity])
    private let board = Guarded(Board())
    /// An event has happened on which the end may depend.
    private let news = Notice()
    private let ender = OperationQueue()
    private var operations: [Operation] = []
    private var queues: [OperationQueue] = []

    static func faults(of program: RandomProgram) -> [String] {
        let run = ThreadedRun(program)
        run.runAll()
        let faults = run.board.withLock { $0.faults }
        if !faults.isEmpty { return faults }
        let remains = run.operations.map { Weak($0) } + run.queues.map { Weak($0) }
        (run.operations, run.queues) = ([], [])
        return remains.areGoneSoon() ? [] : ["an operation or a queue remains"]
    }

    private init(_ program: RandomProgram) {
        self.program = program
        queues = (0..<RandomProgram.queueCount).map { _ in OperationQueue() }
        for queue in queues {
            queue.maxConcurrentOperationCount = Self.width
            queue.setLimitPerKey(Self.limitPerKey)
        }
        for number in queues.indices { queues[number].inheritsTaskContext = program.inheritsTaskContext[number] }
        for number in queues.indices where program.inherits[number] {
            queues[number].priorityPolicy = .init(inheritsPriority: true)
        }
        let names = (1...2).map { "threads \(program.seed) \($0) \(ObjectIdentifier(self))" }
        let start = clock.now
        for (number, plan) in program.plans.enumerated() {
            operations.append(try! plan.makeOperation(number, for: self, pool: pool, names: names, clock: clock))
            if case .notBefore(let time) = plan.condition {
                operations[number].addCondition(.notBefore(start + .milliseconds(time), clock: clock))
            }
            if let deadline = plan.deadline {
                operations[number].setDeadline(start + .milliseconds(deadline), clock: clock)
            }
        }
    }

    private func fail(_ what: String) { board.withLock { $0.faults.append(what) } }

    // MARK: - The course

    private func runAll() {
        let threads = (0..<3).map { part in
            TestThread { [self] in
                for index in stride(from: part, to: program.calls.count, by: 3) { perform(program.calls[index]) }
            }
        }
        for thread in threads { thread.join() }
        board.withLock { $0.isClosing = true }
        if !news.wait(atMost: Self.patience, until: hasEnded) {
            let (refusal, waiters) = board.withLock { ($0.refusal, $0.waiters) }
            fail("hangs: \(remaining.joined(separator: "; ")); \(waiters) tasks wait; refused: \(refusal)")
        }
        let runs = board.withLock { $0.runs }
        for (number, operation) in operations.enumerated() where runs[number] == nil && !operation.isCancelled {
            fail("operation \(number) has not run")
        }
    }

    private func hasEnded() -> Bool {
        // Repeated each time, because work that has not ended may still make a call.
        open()
        return operations.allSatisfy(\.isFinished)
            && board.withLock { board in
                board.waiters == 0 && board.completions.count == operations.count
                    && board.barriersRun.count == board.barriers.count
            }
    }

    /// Removes everything that delays operations, and adds operations that are in no queue.
    private func open() {
        for queue in queues {
            queue.maxConcurrentOperationCount = Self.width
            queue.setRateLimit(nil)
            queue.setCapacity(nil)
            queue.isSuspended = false
        }
        pool.setCapacity(RandomProgram.capacity, of: "units")
        for number in operations.indices {
            (operations[number] as? AsyncOperation)?.resume()
            add(number)
        }
    }

    private var remaining: [String] {
        operations.enumerated().filter { !$0.element.isFinished }.map { number, operation in
            "\(number): \(queues[program.plans[number].queue].explain(operation))"
        }
    }

    // MARK: - Work

    func began(_ number: Int) {
        let plan = program.plans[number]
        let (dependencies, isClosing) = board.withLock { board in
            board.running.insert(number)
            board.runs[number, default: 0] += 1
            check(number, plan, &board)
            return (board.dependencies[number] ?? [], board.isClosing)
        }
        if let first = dependencies.first(where: { !operations[$0].isFinished }), !operations[number].isCancelled {
            fail("operation \(number) runs before \(first) has ended")
        }
        if let call = plan.call, !isClosing {
            perform(call)
            news.post()
        }
    }

    private func check(_ number: Int, _ plan: RandomProgram.Plan, _ board: inout Board) {
        func expect(_ isRight: Bool, _ what: String) {
            if !isRight { board.faults.append("operation \(number): \(what)") }
        }
        func running(_ predicate: (RandomProgram.Plan, Int) -> Bool) -> [Int] {
            isRunning(board).filter { predicate(program.plans[$0], $0) }
        }
        expect(board.runs[number] == 1, "ran twice")
        expect(running { other, _ in other.queue == plan.queue }.count <= Self.width, "width")
        expect(!board.barrierRunning.contains(plan.queue), "runs beside a barrier")
        expect(board.inFront[number]?.isSubset(of: board.barriersRun) ?? true, "runs before a barrier in front of it")
        if let key = plan.key, board.keyed.contains(number), !board.withoutTurn.contains(number) {
            let others = running {
                $0.queue == plan.queue && $0.key == key && board.keyed.contains($1) && !board.withoutTurn.contains($1)
            }
            expect(others.count <= Self.limitPerKey, "limit of key \(key)")
        }
        if let name = plan.exclusiveName {
            expect(running { other, _ in other.exclusiveName == name }.count == 1, "exclusion")
        }
        let units = running { _, _ in true }.reduce(0) { $0 + program.plans[$1].units }
        expect(units <= RandomProgram.capacity + 1, "units")
    }

    /// A retry that is cancelled when an attempt begins ends without the work of that attempt.
    private func isRunning(_ board: Board) -> Set<Int> { board.running.filter { !operations[$0].isFinished } }

    func returned(_ number: Int) { board.withLock { _ = $0.running.remove(number) } }

    func completed(_ number: Int) {
        if !operations[number].isFinished { fail("operation \(number) completes before its end") }
        let isFirst = board.withLock { board in
            board.completions[number, default: 0] += 1
            return board.completions[number] == 1
        }
        if !isFirst { fail("operation \(number) completes twice") }
        news.post()
    }

    func conditionBegan(_ number: Int) {}

    func conditionEnded(_ number: Int, holds: Bool) {}

    func executes(_ operation: ClassicOperation, _ number: Int) { ender.addOperation { operation.end() } }

    func childRan(of number: Int) {}

    /// Nothing ends a deadlock of slots here.
    func awaits(_ other: Int, in number: Int) {}

    /// The operation may release its slot from here on.
    func reachesPause(_ number: Int) { returned(number) }

    func attemptFailed(_ number: Int) { returned(number) }

    func continues(_ number: Int) {
        board.withLock { board in
            board.running.insert(number)
            if operations[number].isCancelled { board.withoutTurn.insert(number) }
            check(number, program.plans[number], &board)
        }
    }

    // MARK: - Calls

    private func perform(_ call: RandomProgram.Call) {
        switch call {
        case .add(let number): add(number)
        case .addBatch(let numbers): for number in numbers { add(number) }
        case .addWhenRoom(let number): addWhenRoom(number)
        case .addBarrier(let barrier, let queue): addBarrier(barrier, queue: queue)
        case .depend(let number, let other):
            guard isSafe(number, on: other) else { return }
            operations[number].addDependency(operations[other])
            board.withLock { board in
                if !board.claimed.contains(number), !board.removed.contains([number, other]) {
                    board.dependencies[number, default: []].insert(other)
                }
            }
        case .removeDependency(let number, let other):
            board.withLock { board in
                board.removed.insert([number, other])
                board.dependencies[number]?.remove(other)
            }
            operations[number].removeDependency(operations[other])
        case .cancel(let number): operations[number].cancel()
        case .cancelAll(let queue): queues[queue].cancelAllOperations()
        case .setPriority(let number, let priority): operations[number].queuePriority = priority
        case .setOrder(let isLast, let starvationLimit, let queue):
            queues[queue].priorityPolicy = .init(
                order: isLast ? .lastInFirstOut : .firstInFirstOut, inheritsPriority: program.inherits[queue],
                starvationLimit: starvationLimit)
        case .pause(let number): (operations[number] as? AsyncOperation)?.pause()
        case .resume(let number): (operations[number] as? AsyncOperation)?.resume()
        case .setWidth(let width, let queue): queues[queue].maxConcurrentOperationCount = width
        case .setSuspended(let isSuspended, let queue): queues[queue].isSuspended = isSuspended
        case .setLimitPerKey(let limit, let queue): queues[queue].setLimitPerKey(limit ?? Self.limitPerKey)
        case .setLimit(let limit, let key, let queue): queues[queue].setLimit(limit, forKey: "\(key)")
        case .setRateLimit(let rate, let queue): queues[queue].setRateLimit(rate?.limit)
        case .setCapacity(let bound, let overflow, let queue): queues[queue].setCapacity(bound, onOverflow: overflow)
        case .setUnits(let capacity): pool.setCapacity(capacity, of: "units")
        case .wait(let number):
            let operation = operations[number]
            wait { await operation.waitUntilFinished() }
        case .waitForAll(let queue):
            let queue = queues[queue]
            wait { await queue.waitUntilAllOperationsAreFinished() }
        case .startByHand, .end, .step, .advance: Pause.yield()
        }
    }

    /// In a program with barriers, two operations could wait for each other across queues. So there an operation depends
    /// only on such operations of earlier queues.
    private func isSafe(_ number: Int, on other: Int) -> Bool {
        program.barriers.isEmpty || program.plans[other].queue < program.plans[number].queue
    }

    private func wait(_ body: @escaping @Sendable () async -> Void) {
        board.withLock { $0.waiters += 1 }
        Task(executorPreference: tasks) { [self] in
            await body()
            board.withLock { $0.waiters -= 1 }
            news.post()
        }
    }

    private func add(_ number: Int) {
        let plan = program.plans[number]
        guard claim(number, key: plan.key) else { return }
        do throws(OperationError) {
            if let key = plan.key {
                try queues[plan.queue].tryAddOperation(operations[number], limitKey: "\(key)")
            } else {
                try queues[plan.queue].tryAddOperation(operations[number])
            }
            board.withLock { _ = $0.joined.insert(number) }
        } catch {
            // The queue is full. The operation is added at the end.
            board.withLock { board in
                board.claimed.remove(number)
                board.refusal = "\(number): \(error)"
            }
        }
    }

    private func addWhenRoom(_ number: Int) {
        guard claim(number, key: nil) else { return }
        let (queue, operation) = (queues[program.plans[number].queue], operations[number])
        wait { [self] in
            do { try await queue.addOperationWaitingForCapacity(operation) } catch {
                fail("operation \(number): \(error)")
            }
            board.withLock { _ = $0.joined.insert(number) }
        }
    }

    private func claim(_ number: Int, key: Int?) -> Bool {
        board.withLock { board in
            guard board.claimed.insert(number).inserted else { return false }
            if key != nil { board.keyed.insert(number) }
            let barriers = board.barriersJoined.filter { board.barriers[$0] == program.plans[number].queue }
            board.inFront[number] = Set(barriers)
            return true
        }
    }

    private func addBarrier(_ barrier: Int, queue: Int) {
        let before: Set<Int>? = board.withLock { board in
            guard board.barriers[barrier] == nil else { return nil }
            board.barriers[barrier] = queue
            return board.joined.filter { program.plans[$0].queue == queue }
        }
        guard let before else { return }
        queues[queue].addBarrierBlock { [self] in
            if let first = before.first(where: { !operations[$0].isFinished }) {
                fail("barrier \(barrier) runs before \(first) has ended")
            }
            board.withLock { board in
                if !board.barrierRunning.insert(queue).inserted {
                    board.faults.append("two barriers of queue \(queue)")
                }
                if let beside = isRunning(board).first(where: { program.plans[$0].queue == queue }) {
                    board.faults.append("barrier \(barrier) runs beside \(beside)")
                }
            }
            Pause.yield()
            board.withLock { board in
                board.barrierRunning.remove(queue)
                if !board.barriersRun.insert(barrier).inserted { board.faults.append("barrier \(barrier) ran twice") }
            }
            news.post()
        }
        board.withLock { _ = $0.barriersJoined.insert(barrier) }
    }
}
