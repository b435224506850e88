public import DurableCore

/// The state of a store at one moment.
public struct DurableSnapshot: Sendable {
    /// The state of one queue.
    public struct Queue: Sendable {
        /// The name of the queue.
        public let name: String
        /// Whether the queue is suspended.
        public let isSuspended: Bool
        /// The largest number of running operations on all machines; nil for no limit.
        public let limit: Int?
        /// The largest rate of starts on all machines; nil for no limit.
        public let rate: RateRule?
        /// The limit of each key without a limit of its own; nil for no limit.
        public let limitPerKey: Int?
        /// The largest rate of starts of each key without a rate of its own; nil for no limit.
        public let ratePerKey: RateRule?
        /// The number of operations for each name and state. Operations that ended as crashed count as failed.
        public let counts: [String: [DurableState: Int]]
        /// The instant at which the oldest ready operation became ready; nil if no operation is ready.
        public let oldestReadyAt: DurableInstant?
    }

    /// The state of one worker.
    public struct Worker: Sendable {
        /// The registration of the worker.
        public let id: WorkerID
        /// The name of the worker.
        public let name: String
        /// The names of the operations that the worker runs.
        public let operations: [String]
        /// The queues that the worker serves.
        public let queues: [String]
        /// The instant at which the leases of the worker expire without a heartbeat.
        public let leaseEnd: DurableInstant
        /// The number of operations whose lease the worker holds.
        public let running: Int
    }

    /// The instant of the snapshot, by the database's clock.
    public let instant: DurableInstant
    /// All queues.
    public let queues: [Queue]
    /// All registered workers.
    public let workers: [Worker]
}

extension DurableStore {
    /// Returns the reasons for which an operation does not run, across all machines.
    ///
    /// - Throws: `DurableError.unknownOperation`.
    public func explain(_ id: OperationID) async throws -> DurableExplanation {
        try await read { try $0.explain(id) }
    }

    /// Returns all queues and workers. The time does not depend on the number of operations.
    public func snapshot() async throws -> DurableSnapshot {
        try await read { machine in
            let queues = try machine.rows.queues().map { row in
                var counts: [String: [DurableState: Int]] = [:]
                var oldest: DurableInstant?
                for (counter, count) in try machine.rows.counters(of: row.id) {
                    counts[try machine.rows.name(of: counter.kind), default: [:]][counter.state, default: 0] += Int(
                        count)
                    guard counter.state == .ready, count > 0 else { continue }
                    for priority in DurablePriority.allCases {
                        let next = try machine.rows.oldestReady(
                            queue: row.id, epoch: counter.epoch, kind: counter.kind, priority: priority)
                        oldest = [oldest, next].compactMap(\.self).min()
                    }
                }
                return DurableSnapshot.Queue(
                    name: row.name, isSuspended: row.isSuspended, limit: row.limit.map { Int($0) }, rate: row.rate,
                    limitPerKey: row.limitPerKey.map { Int($0) }, ratePerKey: row.ratePerKey, counts: counts,
                    oldestReadyAt: oldest)
            }
            let workers = try machine.rows.workers().map { row in
                DurableSnapshot.Worker(
                    id: row.id, name: row.name, operations: row.kinds, queues: row.queues, leaseEnd: row.leaseEnd,
                    running: try machine.rows.operations(.running(row.id)).count)
            }
            return DurableSnapshot(instant: machine.now, queues: queues, workers: workers)
        }
    }

    /// Adds an operation at each time of a schedule, once however many machines run.
    ///
    /// A second call with the name replaces the schedule.
    ///
    /// - Parameters:
    ///   - name: The name of the schedule.
    ///   - cron: The times.
    ///   - operation: The operation that is added each time.
    ///   - queue: The queue of the operations.
    ///   - missed: The rule for times that passed while no worker ran.
    ///   - overlap: The rule for times at which the operation of the last time has not ended.
    ///   - options: The priority, retry rule, limit key and timeout of the operations. Other options are ignored.
    public func schedule<Work: DurableOperation>(
        _ name: String, _ cron: CronSchedule, _ operation: Work, in queue: DurableQueue, missed: MissedTimes = .once,
        overlap: ScheduleOverlap = .allow, options: DurableOptions = DurableOptions()
    ) async throws {
        let new = try queue.newOperation(operation, nil, [], nil, options)
        try await commit { try $0.setSchedule(name, cron: cron, missed: missed, overlap: overlap, operation: new) }
    }

    /// Removes a schedule. Operations that the schedule added stay.
    public func removeSchedule(_ name: String) async throws { try await commit { try $0.removeSchedule(name) } }
}
