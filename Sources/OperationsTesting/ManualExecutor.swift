public import Operations

/// Runs queues and tasks step by step, on the thread that says so: nothing happens by itself.
///
/// Its queues behave as all others do, but for the threads. With a seed the order is random, and the same for each run
/// with that seed; without one, first come, first served.
///
///     let executor = ManualExecutor(seed: 7)
///     let clock = VirtualClock()
///     let queue = executor.makeQueue()
///     queue.addTask { try await clock.sleep(for: .seconds(3600)) }
///     executor.runUntilIdle(advancing: clock)    // takes no time
///
/// What a step runs must not wait, with a blocked thread, for what another step would run: that is a hang. The blocks of one
/// `BlockOperation` run one after the other in one step, in an order that the seed decides; so they must not wait for each
/// other either. Adding and enqueuing may happen on any thread, stepping on one at a time.
public final class ManualExecutor: TaskExecutor {
    fileprivate enum Item: Sendable {
        case turn(OperationQueue)
        case job(UnownedJob)
    }

    fileprivate struct State {
        var items: [Item] = []
        var random: SeededGenerator?
        var isStepping = false
        var steps = 0
    }

    private let state: Locked<State>
    /// The seed of the order; nil: first come, first served.
    public let seed: UInt64?

    /// - Parameter seed: Of the random order; nil: first come, first served.
    public init(seed: UInt64? = nil) {
        self.seed = seed
        state = Locked(State(random: seed.map(SeededGenerator.init)))
    }

    /// A queue that runs on this executor.
    public func makeQueue() -> OperationQueue { OperationQueue(on: host) }

    /// Starts a task on this executor.
    @discardableResult
    public func task<Success: Sendable>(
        _ body: @escaping @Sendable () async throws -> Success
    ) -> Task<Success, any Error> {
        Task(executorPreference: self) { try await body() }
    }

    /// Called by the runtime when a task can go on.
    public func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job))) }

    // MARK: - Stepping

    /// How many things can be done now.
    public var pendingCount: Int { state.withLock { $0.items.count } }

    /// How many steps were made so far.
    public var stepCount: Int { state.withLock { $0.steps } }

    /// Does one thing: starts an operation, or lets a task or an async operation go on until it suspends. False: there was
    /// nothing to do.
    @discardableResult
    public func step() -> Bool {
        let item: Item? = state.withLock { state in
            guard !state.isStepping else { fatalError("ManualExecutor: step() was called by what a step runs") }
            guard !state.items.isEmpty else { return nil }
            state.isStepping = true
            state.steps += 1
            return state.takeItem()
        }
        guard let item else { return false }
        switch item {
        case .turn(let queue): queue.workOnce()
        case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
        }
        state.withLock { $0.isStepping = false }
        return true
    }

    /// Steps until there is nothing to do.
    ///
    /// Work that has left the executor is not waited for: a task on the main actor, for instance, or on another executor.
    /// When it comes back, it is there to be stepped.
    ///
    /// - Parameters:
    ///   - clock: Is advanced to the next sleeper whenever there is nothing to do, until no task sleeps.
    ///   - limit: The most steps; ``isIdle`` says afterwards whether they were enough. nil: ``defaultStepLimit``, and
    ///     more to do than that stops the process with a message. `tryRunUntilIdle` throws instead.
    /// - Returns: The number of steps.
    @discardableResult
    public func runUntilIdle(advancing clock: VirtualClock? = nil, limit: Int? = nil) -> Int {
        do { return try tryRunUntilIdle(advancing: clock, limit: limit ?? Self.defaultStepLimit) } catch {
            if limit == nil { fatalError("\(error)") }
            return error.steps
        }
    }

    /// `runUntilIdle` that throws when there is more to do after so many steps.
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

    /// How many steps `runUntilIdle` makes at most: 1,000,000.
    public static var defaultStepLimit: Int { 1_000_000 }

    /// Whether there is nothing to do at this moment.
    public var isIdle: Bool { pendingCount == 0 }

    /// There is more to do after as many steps as were allowed.
    public struct StepLimitReached: Error, CustomStringConvertible {
        /// The steps that were made.
        public let steps: Int
        /// How many things can be done now.
        public let pendingCount: Int

        public var description: String {
            "ManualExecutor is not idle after \(steps) steps: \(pendingCount) things can be done. "
                + "Something may go on for ever; if not, pass a higher limit."
        }
    }

    /// Steps, and moves the clock on from sleeper to sleeper, until it shows this instant.
    public func run(until instant: VirtualClock.Instant, of clock: VirtualClock) {
        while true {
            while step() {}
            guard let next = clock.nextDeadline, next <= instant else { break }
            clock.advance(to: next)
        }
        clock.advance(to: instant)
        while step() {}
    }

    /// Runs a test with executors of many seeds; a failure says which, so that the run can be repeated.
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
        public let seed: UInt64
        public let error: any Error

        public var description: String { "with ManualExecutor(seed: \(seed)): \(error)" }
    }

    // MARK: - Items

    private func add(_ item: Item) { state.withLock { $0.items.append(item) } }

    /// What queues know of the executor.
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
    fileprivate mutating func takeItem() -> ManualExecutor.Item {
        guard random != nil else { return items.removeFirst() }
        items.swapAt(choose(among: items.count), items.count - 1)
        return items.removeLast()
    }

    /// 0 without a seed.
    fileprivate mutating func choose(among count: Int) -> Int {
        guard random != nil else { return 0 }
        return Int(random!.next() % UInt64(count))
    }
}
