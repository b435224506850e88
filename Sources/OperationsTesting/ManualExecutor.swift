public import Operations
import OperationsPrimitives

/// An executor that runs queues and tasks step by step, on the calling thread. Nothing runs by itself.
///
/// Apart from the threads, its queues behave as other queues do. With a seed, the order is random, and each run with that seed
/// has the same order. Without a seed, the order is first in, first out.
///
/// ```swift
/// let executor = ManualExecutor(seed: 7)
/// let clock = VirtualClock()
/// let queue = executor.makeQueue()
/// queue.addTask { try await clock.sleep(for: .seconds(3600)) }
/// executor.runUntilIdle(advancing: clock)    // takes no time
/// ```
///
/// Code that a step runs must not block its thread until another step has run, because it would hang. The blocks of one
/// `BlockOperation` run one after the other in one step, in an order that depends on the seed. They must not wait for each
/// other either. Operations and tasks may be added on any thread. Only one thread at a time may make steps.
public final class ManualExecutor: TaskExecutor {
    fileprivate enum Item: Sendable {
        case turn(OperationQueue)
        case job(UnownedJob)
    }

    fileprivate struct State {
        var items = Ring<Item>()
        var random: SeededGenerator?
        var isStepping = false
        var steps = 0
        var queues: [WeakQueue] = []
        /// The number of queues at which those that are gone are removed next.
        var sweepLimit = 64
        var lastQueue = 0
    }

    fileprivate struct WeakQueue: Sendable {
        let id: Int
        weak var queue: OperationQueue?
    }

    private let state: Locked<State>
    /// The seed of the random order; nil for first in, first out.
    public let seed: UInt64?

    /// Creates an executor.
    ///
    /// - Parameter seed: The seed of the random order; nil for first in, first out.
    public init(seed: UInt64? = nil) {
        self.seed = seed
        state = Locked(State(random: seed.map(SeededGenerator.init)))
    }

    /// Returns a new queue that runs on this executor.
    public func makeQueue(
        name: String? = nil, maxConcurrentOperationCount: Int = OperationQueue.defaultMaxConcurrentOperationCount
    ) -> OperationQueue {
        let queue = OperationQueue(on: host)
        let mustSweep = state.withLock { $0.note(queue) }
        if mustSweep { removeReleasedQueues() }
        queue.name = name
        queue.maxConcurrentOperationCount = maxConcurrentOperationCount
        return queue
    }

    /// The operations of the queues of this executor that have not finished: those that wait, each with its reasons, and those that
    /// execute. An operation that executes although no step is ready waits for a clock, or has left the executor.
    ///
    /// ```
    /// executor.runUntilIdle()
    /// #expect(executor.unfinished.isEmpty, "\(executor.unfinished)")
    /// ```
    public var unfinished: [Explanation] {
        // Loaded without the lock: the reference may be the last one.
        let queues = state.withLock { $0.queues }.compactMap(\.queue)
        return queues.flatMap { queue in
            let explanation = queue.explain()
            return explanation.executing + explanation.waiting
        }
    }

    /// O(queues), at each doubling of their number. The references are loaded without the lock.
    private func removeReleasedQueues() {
        let released = Set(state.withLock { $0.queues }.filter { $0.queue == nil }.map(\.id))
        state.withLock { state in
            state.queues.removeAll { released.contains($0.id) }
            state.sweepLimit = max(64, 2 * state.queues.count)
        }
    }

    /// Starts a task on this executor.
    @discardableResult
    public func task<Success: Sendable>(
        _ body: @escaping @Sendable () async throws -> Success
    ) -> Task<Success, any Error> {
        Task(executorPreference: self) { try await body() }
    }

    /// Adds a job. The runtime calls this function when a task can resume.
    public func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job))) }

    // MARK: - Stepping

    /// The number of steps that are ready now.
    public var pendingCount: Int { state.withLock { $0.items.count } }

    /// The number of steps that were made so far.
    public var stepCount: Int { state.withLock { $0.steps } }

    /// Makes one step: starts an operation, or runs a task or an async operation until it suspends.
    ///
    /// - Returns: False if no step was ready.
    @discardableResult
    public func step() -> Bool {
        let item: Item? = state.withLock { state in
            guard !state.isStepping else { fatalError("ManualExecutor: code that a step runs must not call step()") }
            guard let item = state.takeItem() else { return nil }
            state.isStepping = true
            state.steps += 1
            return item
        }
        guard let item else { return false }
        switch item {
        case .turn(let queue): queue.workOnce()
        case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
        }
        state.withLock { $0.isStepping = false }
        return true
    }

    /// Makes steps until none is ready.
    ///
    /// The function does not wait for work that has left the executor, such as a task on the main actor or on another executor.
    /// Such work becomes ready when it returns to this executor.
    ///
    /// - Parameters:
    ///   - clock: A clock that advances to the next sleeper whenever no step is ready, until no task sleeps.
    ///   - limit: The maximum number of steps. Afterwards, ``isIdle`` is false if the steps were not enough. If the limit is
    ///     nil, ``defaultStepLimit`` applies, and reaching it stops the process with a message. `tryRunUntilIdle` throws
    ///     instead.
    /// - Returns: The number of steps.
    @discardableResult
    public func runUntilIdle(advancing clock: VirtualClock? = nil, limit: Int? = nil) -> Int {
        do { return try tryRunUntilIdle(advancing: clock, limit: limit ?? Self.defaultStepLimit) } catch {
            if limit == nil { fatalError("\(error)") }
            return error.steps
        }
    }

    /// Makes steps until none is ready, or throws if more steps are ready after `limit` steps.
    @discardableResult
    public func tryRunUntilIdle(
        advancing clock: VirtualClock? = nil, limit: Int = defaultStepLimit
    ) throws(StepLimitReached) -> Int {
        var steps = 0
        repeat {
            while steps < limit, step() { steps += 1 }
            if steps >= limit, !isIdle { throw StepLimitReached(steps: steps, pendingCount: pendingCount) }
        } while clock?.advanceToNextSleeper() == true
        return steps
    }

    /// The maximum number of steps of `runUntilIdle` without a limit: 1,000,000.
    public static var defaultStepLimit: Int { 1_000_000 }

    /// Whether no step is ready at this moment.
    public var isIdle: Bool { pendingCount == 0 }

    /// The error that more steps are ready after the maximum number of steps.
    public struct StepLimitReached: Error, CustomStringConvertible {
        /// The number of steps that were made.
        public let steps: Int
        /// The number of steps that are ready now.
        public let pendingCount: Int

        public var description: String {
            "ManualExecutor is not idle after \(steps) steps: more steps are ready (\(pendingCount)). "
                + "Either the work never ends, or the limit is too low."
        }
    }

    /// Makes steps, and advances the clock from sleeper to sleeper, until the clock reaches this instant.
    ///
    /// More than ``defaultStepLimit`` steps at one instant stop the process with a message.
    public func run(until instant: VirtualClock.Instant, of clock: VirtualClock) {
        while true {
            runUntilIdle()
            guard let next = clock.nextDeadline, next <= instant else { break }
            clock.advance(to: next)
        }
        clock.advance(to: instant)
        runUntilIdle()
    }

    /// Runs a test with one executor for each seed. The error of a failure contains the seed, so that the run can be repeated.
    ///
    /// - Throws: `FailedSeed` with the first error.
    public static func explore(
        seeds: some Sequence<UInt64>, _ test: (ManualExecutor) throws -> Void
    ) throws(FailedSeed) {
        for seed in seeds {
            do { try test(ManualExecutor(seed: seed)) } catch { throw FailedSeed(seed: seed, error: error) }
        }
    }

    /// The seed with which a test failed.
    public struct FailedSeed: Error, CustomStringConvertible {
        /// The seed of the executor with which the test failed.
        public let seed: UInt64
        /// The error that the test threw.
        public let error: any Error

        public var description: String { "with ManualExecutor(seed: \(seed)): \(error)" }
    }

    // MARK: - Items

    private func add(_ item: Item) { state.withLock { $0.items.append(item) } }

    /// The queues' view of this executor.
    private var host: any QueueHost { Host(self) }

    private final class Host: QueueHost {
        private let executor: ManualExecutor
        init(_ executor: ManualExecutor) { self.executor = executor }
        func call(_ queue: OperationQueue) { executor.add(.turn(queue)) }
        func enqueue(_ job: consuming ExecutorJob) { executor.enqueue(job) }
        func choose(among count: Int) -> Int { executor.state.withLock { $0.choose(among: count) } }
    }
}

extension ManualExecutor.State {
    /// Adds a new queue. Returns whether the queues that are gone have to be removed.
    fileprivate mutating func note(_ queue: OperationQueue) -> Bool {
        lastQueue += 1
        queues.append(ManualExecutor.WeakQueue(id: lastQueue, queue: queue))
        return queues.count >= sweepLimit
    }

    fileprivate mutating func takeItem() -> ManualExecutor.Item? {
        guard !items.isEmpty else { return nil }
        items.swapAt(0, choose(among: items.count))
        return items.popFirst()
    }

    /// Returns a random index below `count`; 0 without a seed.
    fileprivate mutating func choose(among count: Int) -> Int {
        guard random != nil else { return 0 }
        return Int(random!.next() % UInt64(count))
    }
}
