package import DurableCore

/// One event of a random program.
package enum ProgramEvent: Sendable {
    case add([NewOperation], by: Lease?)
    case register
    case heartbeat(WorkerID)
    case leave(WorkerID)
    case claim(WorkerID, queue: String, count: Int, kinds: [String])
    case complete(Completion)
    /// Moves the clock. With `wakes`, the machine then applies everything that is due.
    case advance(microseconds: Int64, wakes: Bool)
    case expireLeases
    case wakeDue
    case cancel(OperationID)
    case discard(OperationID)
    case retry(OperationID)
    case move(OperationID, to: String)
    case setPriority(OperationID, DurablePriority)
    case setSuspended(Bool, queue: String)
    case setLimit(Int?, queue: String)
    case setLimitPerKey(Int?, queue: String)
    case setLimitOfKey(Int?, key: String, queue: String)
    case setRatePerKey(RateRule?, queue: String)
    case setRateOfKey(RateRule?, key: String, queue: String)
    case observe
    case step(Lease, position: Int64)
    case sleep(Lease, microseconds: Int64, position: Int64)
    case awaitSignal(Lease, name: String, microseconds: Int64?, position: Int64)
    case send(String, to: OperationID)
    case awaitOperations(Lease, [OperationID], position: Int64)
    case purge
}

/// The reply to one event, in a form that two implementations can compare.
package enum ProgramReply: Equatable, Sendable {
    case done
    case ids([OperationID])
    case worker(WorkerID)
    case leases([Lease])
    case accepted(Bool)
    case suspended(Bool)
    case refused
}

extension DurableMachine {
    /// The lease of the workers of random programs.
    static let programLease = Duration.seconds(5)

    /// The process of a worker of a random program that registers at the instant; nil for an earlier version.
    static func programProcess(at instant: DurableInstant) -> String? {
        let number = instant.microseconds / 1_000 % 4
        return number == 0 ? nil : "process \(number)"
    }

    /// Applies an event, and returns the comparable part of the reply. An error is the reply `refused`.
    package mutating func reply(to event: ProgramEvent) throws -> ProgramReply {
        do { return try applied(event) } catch is DurableError { return .refused }
    }

    private mutating func applied(_ event: ProgramEvent) throws -> ProgramReply {
        switch event {
        case .add(let batch, let lease): return .ids(try add(batch, by: lease))
        case .register:
            return .worker(
                try register(
                    "worker", kinds: RandomProgram.names, queues: RandomProgram.names, lease: Self.programLease,
                    process: Self.programProcess(at: now)))
        case .heartbeat(let worker): try heartbeat(worker, lease: Self.programLease)
        case .leave(let worker): try leave(worker)
        case .claim(let worker, let queue, let count, let kinds):
            let claims = try claim(for: worker, slots: [(queue, count)], kinds: kinds)
            return .leases(claims.compactMap(\.lease))
        case .complete(let completion): return .accepted(try complete([completion])[0])
        case .advance(_, let wakes): if wakes { while try wakeDue() {} }
        case .expireLeases: try expireLeases()
        case .wakeDue: while try wakeDue() {}
        case .cancel(let id): try cancel([id])
        case .discard(let id): try discard([id], reason: "discarded")
        case .retry(let id): try retry([id])
        case .move(let id, let queue): try move([id], to: queue)
        case .setPriority(let id, let priority): try setPriority(priority, of: [id])
        case .setSuspended(let isSuspended, let queue): try setSuspended(isSuspended, queue: queue)
        case .setLimit(let limit, let queue): try setLimit(limit, queue: queue)
        case .setLimitPerKey(let limit, let queue): try setLimitPerKey(limit, queue: queue)
        case .setLimitOfKey(let limit, let key, let queue): try setLimit(limit, key: key, queue: queue)
        case .setRatePerKey(let rate, let queue): try setRatePerKey(rate, queue: queue)
        case .setRateOfKey(let rate, let key, let queue): try setRate(rate, key: key, queue: queue)
        case .observe: _ = try observeEvents()
        case .step(let lease, let position): try recordStep("step", result: [1], position: position, by: lease)
        case .sleep(let lease, let delay, let position):
            let reply = try sleep(until: .after(.microseconds(delay)), name: "sleep", position: position, by: lease)
            return .suspended(reply == .suspended)
        case .awaitSignal(let lease, let name, let timeout, let position):
            let timeout = timeout.map { Duration.microseconds($0) }
            return .suspended(try awaitSignal(name, timeout: timeout, position: position, by: lease) == .suspended)
        case .send(let name, let id): try send(name, [2], to: id)
        case .awaitOperations(let lease, let ids, let position):
            return .suspended(try awaitOperations(ids, name: "operations", position: position, by: lease) == .suspended)
        case .purge: try purge()
        }
        return .done
    }
}
