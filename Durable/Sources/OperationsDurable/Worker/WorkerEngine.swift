import DurableCore
import Logging
import Operations

/// The loop of a worker: one transaction completes the ended attempts and claims operations for the free slots.
final class WorkerEngine: Sendable {
    struct State {
        var completions: [Completion] = []
        var attempts: [Lease: Attempt] = [:]
        /// The number of claims so far.
        var claims = 0
        var inFlight: [String: Int] = [:]
        var pace = WorkerPace()
        /// Whether the last exchange claimed ahead.
        var isAhead = false
        /// Whether the reply to an exchange may be lost, with claims that the worker does not know.
        var hasLostReply = false
        var isStopping = false
        /// The instant of the request to release the running operations.
        var releasedAt: ContinuousClock.Instant?

        /// Whether a commit should wait for the ends of further attempts. With claims ahead, half of the attempts run during
        /// the commit of the other half.
        var isWaitingForEnds: Bool {
            if attempts.isEmpty || isStopping { return false }
            return !isAhead || completions.count < attempts.count
        }
    }

    let store: any DurableStore
    let configuration: DurableWorker.Configuration
    private let limits: [String: Int]
    private let runners: [String: OperationRunner]
    private let queues: [String: OperationQueue]
    private let wakeup = Wakeup()
    /// The text that identifies this process in all stores. A number of the system returns after the end of a process.
    private static let process = String(UInt64.random(in: .min ... .max), radix: 36)
    private var logger: WorkerLogger { WorkerLogger(configuration.logger) }
    private let state = Locked(State())

    init(
        _ store: any DurableStore, limits: [String: Int], runners: [String: OperationRunner],
        configuration: DurableWorker.Configuration
    ) {
        (self.store, self.limits, self.runners, self.configuration) = (store, limits, runners, configuration)
        queues = Dictionary(
            uniqueKeysWithValues: limits.map { name, limit in
                let queue = OperationQueue()
                (queue.name, queue.maxConcurrentOperationCount) = (name, limit)
                configuration.configureQueue?(queue)
                return (name, queue)
            })
    }

    func stop(isImmediate: Bool) {
        let attempts = state.withLock { state in
            state.isStopping = true
            if isImmediate, state.releasedAt == nil { state.releasedAt = .now }
            // The last claim first, as in `WorkerPace.late`.
            return state.attempts.values.sorted { $0.ordinal > $1.ordinal }
        }
        for attempt in attempts {
            if isImmediate { attempt.stop(because: .shutdown) } else { attempt.withdraw() }
        }
        wakeup.set()
    }

    /// - Throws: `DurableError.newerSchema` if a newer program excluded this version from the database.
    func run() async throws {
        let token = store.notices.addListener { [wakeup] effects in
            if effects.hasReadyOperations || effects.hasCancelRequests || effects.hasNewWakes { wakeup.set() }
        }
        // Neither task inherits a cancellation: the loop ends after the last completion is stored.
        let exclusion = await Task(executorPreference: OperationQueue.ofWorkers) { await self.loop() }.value
        store.notices.removeListener(token)
        if let exclusion { throw exclusion }
    }

    /// Returns the error of a schema that does not permit this version of the library any more; nil after a stop.
    private func loop() async -> (any Error)? {
        do { try await serve() } catch {
            logger.log(
                .error, "a newer program excluded the worker from the database; the worker stops", nil,
                ["error": "\(error)"])
            // The store accepts no end of an attempt any more.
            state.withLock { ($0.completions, $0.isStopping) = ([], true) }
            loseLeases()
            while !state.withLock({ $0.attempts.isEmpty }) { await wakeup.wait(atMost: configuration.idleInterval) }
            return error
        }
        return nil
    }

    private func serve() async throws {
        guard var worker = try await register() else { return }
        var heart = beating(worker)
        var graceful: Task<Void, Never>?
        defer {
            heart.cancel()
            graceful?.cancel()
        }
        var rhythm = WorkerRhythm()
        serving: while true {
            let (isStopping, isIdle) = state.withLock { ($0.isStopping, $0.attempts.isEmpty && $0.completions.isEmpty) }
            if isStopping, isIdle { break }
            if isStopping, graceful == nil {
                graceful = Task(executorPreference: OperationQueue.ofWorkers) { await self.releaseAfterGrace() }
            }
            await linger(atMost: rhythm.linger)
            let outcome = await exchange(as: worker)
            let reaction = rhythm.reaction(to: outcome)
            for report in reaction.reports {
                logger.log(report.level, "\(report.rawValue)", worker, outcome.error.map { ["error": "\($0)"] } ?? [:])
            }
            switch reaction.act {
            case .wait(let rest): if rest > .zero { await wakeup.wait(atMost: rest) }
            case .register:
                heart.cancel()
                loseLeases()
                guard let next = try await register(survived: worker) else { break serving }
                worker = next
                heart = beating(worker)
            case .leave: break serving
            case .end(let error): throw error
            }
        }
        heart.cancel()
        try? await store.commit { [worker] in try $0.leave(worker) }
        logger.log(.info, "the worker has stopped", worker)
    }

    /// Stores the ends of attempts, claims operations, and starts their attempts.
    private func exchange(as worker: WorkerID) async -> WorkerRhythm.Outcome {
        let completions = state.withLock { state in
            defer { state.completions = [] }
            return state.completions
        }
        let start = ContinuousClock.now
        do {
            let reply = try await exchange(worker, completions)
            let time = ContinuousClock.now - start
            state.withLock { state in
                state.hasLostReply = false
                state.pace.exchange = time
            }
            for (name, error) in reply.refusedSchedules.sorted(by: { $0.key < $1.key }) {
                let metadata: Logger.Metadata = ["schedule": "\(name)", "error": "\(error)"]
                logger.log(.error, "the store refuses the operation of a schedule", worker, metadata)
            }
            handle(reply)
            let patience = reply.isExpired ? .zero : withdrawLate()
            let isReady = state.withLock { !$0.completions.isEmpty }
            let rest = isReady ? .zero : min(patience, reply.pause(configuration.idleInterval))
            return .reply(time: time, hasClaims: !reply.claims.isEmpty, isExpired: reply.isExpired, rest: rest)
        } catch {
            // The reply may be lost after the commit. The completions permit repetition.
            state.withLock { state in
                state.completions = completions + state.completions
                state.hasLostReply = true
            }
            return .failure(error, isPastGrace: isPastGrace)
        }
    }

    /// Waits for the ends of short attempts, so that one commit has all of them.
    ///
    /// - Parameter limit: The longest wait.
    private func linger(atMost limit: Duration) async {
        let end = ContinuousClock.now + limit
        while state.withLock({ $0.isWaitingForEnds }) {
            let rest = end - ContinuousClock.now
            if rest < .microseconds(20) { return }
            await wakeup.wait(atMost: rest)
        }
    }

    // MARK: - Registration

    /// Registers the worker. Returns nil if the worker stops before the database answers.
    ///
    /// - Parameter survived: The registration whose leases have expired.
    /// - Throws: `DurableError.newerSchema`.
    private func register(survived: WorkerID? = nil) async throws -> WorkerID? {
        let (name, kinds, names, lease) = (
            configuration.name, runners.keys.sorted(), limits.keys.sorted(), configuration.lease
        )
        var backoff = Backoff()
        while true {
            do {
                let id = try await store.commit { machine in
                    try machine.register(
                        name, kinds: kinds, queues: names, lease: lease, process: Self.process, survived: survived)
                }
                let words: [Logger.MetadataValue] = names.map { "\($0)" }
                logger.log(.info, "the worker is registered", id, ["name": "\(name)", "queues": .array(words)])
                return id
            } catch let error as DurableError where error.isExclusion {
                throw error
            } catch {
                if !backoff.isWaiting {
                    let metadata: Logger.Metadata = ["error": "\(error)"]
                    logger.log(.warning, "the database is away; the worker waits to register", nil, metadata)
                }
            }
            let isDone = state.withLock { $0.isStopping && $0.attempts.isEmpty }
            if isDone { return nil }
            await wakeup.wait(atMost: backoff.next())
        }
    }

    private func beating(_ worker: WorkerID) -> Task<Void, Never> {
        let heart = WorkerHeart(store: store, worker: worker, configuration: configuration, logger: logger) { [self] in
            if $0 { loseLeases() }
            wakeup.set()
        }
        return Task(executorPreference: OperationQueue.ofWorkers) { await heart.beat() }
    }

    /// Cancels all attempts, because other workers may run the operations now.
    private func loseLeases() {
        let attempts = state.withLock { Array($0.attempts.values) }
        for attempt in attempts { attempt.stop(because: .lostLease) }
    }

    /// Whether the worker has released its operations, and has waited for the database during the grace time.
    private var isPastGrace: Bool {
        state.withLock { state in
            guard let releasedAt = state.releasedAt, state.attempts.isEmpty else { return false }
            return ContinuousClock.now - releasedAt >= configuration.shutdownGrace
        }
    }

    private func releaseAfterGrace() async {
        try? await OperationClock().sleep(for: configuration.shutdownGrace)
        if !Task.isCancelled { stop(isImmediate: true) }
    }

    // MARK: - Exchange

    private struct Reply: Sendable {
        var accepted: [Bool] = []
        var claims: [Claim] = []
        var cancelRequests: Set<OperationID> = []
        var isExpired = false
        var nextWake: Duration?
        var refusedSchedules: [String: DurableError] = [:]

        /// Returns the time until the next look at the queues.
        func pause(_ idle: Duration) -> Duration { max(.zero, min(idle, nextWake ?? idle)) }
    }

    private func exchange(_ worker: WorkerID, _ completions: [Completion]) async throws -> Reply {
        let ((slots, ahead), known) = (freeSlots(), knownLeases())
        let kinds = runners.keys.sorted()
        return try await CommitHint.$operations.withValue(completions.map(\.lease.operation)) {
            try await store.commit { machine in
                var reply = Reply()
                reply.accepted = try machine.complete(completions)
                if let known { try machine.release(from: worker, except: known) }
                try machine.expireLeases()
                try machine.runSchedules { reply.refusedSchedules[$0] = $1 }
                while try machine.wakeDue() {}
                do {
                    reply.claims = try machine.claim(for: worker, slots: slots, kinds: kinds, ahead: ahead)
                } catch DurableError.workerExpired { reply.isExpired = true }
                reply.cancelRequests = Set(try machine.rows.operations(.cancelRequests(worker)))
                let wakes = [try machine.rows.nextWake(), try machine.nextStart(ofQueues: slots.map(\.queue))]
                reply.nextWake = wakes.compactMap { $0 }.min().map { $0 - machine.now }
                return reply
            }
        }
    }

    /// Returns the leases of all attempts if the reply to an exchange may be lost.
    private func knownLeases() -> Set<Lease>? {
        state.withLock { state in
            guard state.hasLostReply else { return nil }
            // Completions that arrived after the start of this exchange keep their leases until the next exchange.
            return Set(state.attempts.keys).union(state.completions.map(\.lease))
        }
    }

    /// Returns the free slots of each queue, and the number of operations to claim beyond them.
    private func freeSlots() -> (slots: [(queue: String, count: Int)], ahead: [String: Int]) {
        state.withLock { state in
            if state.isStopping { return ([], [:]) }
            var (slots, ahead): ([(queue: String, count: Int)], [String: Int]) = ([], [:])
            for (name, limit) in limits.sorted(by: { $0.key < $1.key }) {
                let free = limit - state.inFlight[name, default: 0]
                slots.append((name, max(0, free)))
                let excess = state.pace.claimsAhead(of: name, limit: limit) + min(0, free)
                if excess > 0 { ahead[name] = excess }
            }
            state.isAhead = !ahead.isEmpty
            return (slots, ahead)
        }
    }

    /// Returns claims whose attempts did not get a slot in time, because earlier attempts run longer than expected.
    ///
    /// - Returns: The time until the next claim is late.
    private func withdrawLate() -> Duration {
        let now = ContinuousClock.now
        let (late, rest) = state.withLock { state in
            var (late, rest): ([Attempt], Duration) = ([], WorkerPace.idle)
            for (name, limit) in limits where state.inFlight[name, default: 0] > limit {
                let waiting = state.attempts.values.filter { $0.queueName == name && $0.age == nil }
                let decision = WorkerPace.late(waiting.map { .init(ordinal: $0.ordinal, age: now - $0.claimedAt) })
                rest = min(rest, decision.rest)
                if decision.ordinals.isEmpty { continue }
                let attempts = Dictionary(uniqueKeysWithValues: waiting.map { ($0.ordinal, $0) })
                late += decision.ordinals.compactMap { attempts[$0] }
                state.pace.forget(name)
            }
            return (late, rest)
        }
        for attempt in late { attempt.withdraw() }
        return rest
    }

    private func handle(_ reply: Reply) {
        var attempts: [Attempt] = []
        let claims = state.withLock { state in
            defer { state.claims += reply.claims.count }
            return state.claims
        }
        for (offset, claim) in reply.claims.enumerated() {
            guard let lease = claim.lease, let runner = runners[claim.name] else { continue }
            attempts.append(
                Attempt(claim, ordinal: claims + offset, lease: lease, runner: runner, store: store) { [weak self] in
                    self?.ended($0, $1)
                })
        }
        let isStopping = state.withLock { state in
            for attempt in attempts {
                state.attempts[attempt.lease] = attempt
                state.inFlight[attempt.queueName, default: 0] += 1
            }
            return state.isStopping
        }
        if isStopping {
            // The stop preceded the reply, and withdrew only the attempts before these. The last claim first, as in `stop`.
            for attempt in attempts.reversed() { attempt.withdraw() }
        } else {
            for attempt in attempts {
                TraceContext.restore(attempt.context) { queues[attempt.queueName]?.addOperation(attempt) }
            }
        }
        guard !reply.cancelRequests.isEmpty else { return }
        let cancelled = state.withLock { state in
            state.attempts.values.filter { reply.cancelRequests.contains($0.lease.operation) }
        }
        for attempt in cancelled { attempt.stop(because: .cancelRequest) }
    }

    private func ended(_ attempt: Attempt, _ completion: Completion?) {
        let age = attempt.age
        state.withLock { state in
            guard state.attempts.removeValue(forKey: attempt.lease) != nil else { return }
            state.inFlight[attempt.queueName, default: 1] -= 1
            if let age { state.pace.note(age, of: attempt.queueName) }
            if let completion { state.completions.append(completion) }
        }
        wakeup.set()
    }
}
