public import DurableCore

/// Everything that a store keeps of one operation, except its output and its history.
public struct DurableRecord: Sendable, Identifiable, Hashable {
    public let id: OperationID
    /// The name of the operation.
    public let name: String
    /// The name of the queue.
    public let queue: String
    public let state: DurableState
    public let priority: DurablePriority
    /// The input, as JSON. Empty if the caller did not request inputs.
    public let input: [UInt8]
    /// The key of a limit per key.
    public let limitKey: String?
    /// The running operation that added this operation as its child.
    public let parent: OperationID?
    /// The instant of the addition, by the database's clock, as all instants.
    public let addedAt: DurableInstant
    /// The instant at which the operation became ready last; nil if it has never been ready.
    public let readyAt: DurableInstant?
    /// The next instant at which the operation becomes ready, or at which its wait for a signal ends.
    public let wakeAt: DurableInstant?
    /// The instant of the last start.
    public let startedAt: DurableInstant?
    public let endedAt: DurableInstant?
    /// The instant after which no attempt starts.
    public let deadline: DurableInstant?
    /// The number of failed attempts.
    public let failures: Int
    /// The number of deaths of workers since the last attempt that ended.
    public let crashes: Int
    public let isCancelRequested: Bool
    /// The text of the last error.
    public let reason: String?
}

/// A schedule, and its next time.
public struct DurableSchedule: Sendable, Identifiable, Hashable {
    /// The name of the schedule.
    public let id: String
    /// The text of the times.
    public let cron: String
    public let nextAt: DurableInstant
    /// The name of the operations that the schedule adds.
    public let operation: String
    /// The name of their queue.
    public let queue: String
    public let missed: MissedTimes
    public let overlap: ScheduleOverlap
    /// The last operation that the schedule added; nil before the first one.
    public let last: OperationID?
}

extension DurableStore {
    /// Returns the operations that match a filter, in ascending order of identifiers.
    ///
    /// The identifier of the last record is `DurableFilter.after` of the next page.
    ///
    /// - Parameters:
    ///   - filter: The choice of operations.
    ///   - includesInputs: Whether the records have their inputs, each of which may be as large as `DurableLimits.payloadBytes`.
    /// - Throws: `DurableError.invalidValue` for a limit below zero.
    public func records(matching filter: DurableFilter, includesInputs: Bool = true) async throws -> [DurableRecord] {
        guard filter.limit >= 0 else { throw DurableError.invalidValue("the limit of a filter is below zero") }
        return try await read { try $0.records($0.operations(matching: filter), includesInputs: includesInputs) }
    }

    /// Returns the record of an operation.
    ///
    /// - Throws: `DurableError.unknownOperation`.
    public func record(of id: OperationID) async throws -> DurableRecord {
        let record = try await read { try $0.records([id], includesInputs: true).first }
        guard let record else { throw DurableError.unknownOperation(id) }
        return record
    }

    /// Returns the output of an operation, as JSON; nil if the operation has not succeeded. The output of `Void` is empty.
    ///
    /// - Throws: `DurableError.unknownOperation`.
    public func output(of id: OperationID) async throws -> [UInt8]? {
        try await read { machine in
            guard let row = try machine.rows.operations([id]).first else { throw DurableError.unknownOperation(id) }
            return row.state == .succeeded ? try machine.rows.output(of: id) ?? [] : nil
        }
    }

    /// Removes the ended operations that match a filter, before the end of their retention period. Returns these operations.
    ///
    /// The unique keys of the operations do not hold any more.
    @discardableResult
    public func delete(matching filter: DurableFilter) async throws -> [OperationID] {
        try await change(filter.limited(to: Set(DurableState.allCases.filter(\.isEnded)))) { try $0.delete($1) }
    }

    /// Returns all schedules, in the order of their names.
    public func schedules() async throws -> [DurableSchedule] {
        try await read { machine in
            try machine.rows.schedules().map { row in
                DurableSchedule(
                    id: row.name, cron: row.cron, nextAt: row.nextAt, operation: row.kind, queue: row.queue,
                    missed: row.missed, overlap: row.overlap, last: row.last)
            }
        }
    }
}

extension DurableMachine {
    fileprivate mutating func records(_ ids: [OperationID], includesInputs: Bool) throws -> [DurableRecord] {
        if ids.isEmpty { return [] }
        let inputs = includesInputs ? try rows.inputs(of: ids) : [:]
        return try rows.operations(ids).sorted { $0.id < $1.id }.map { row in
            DurableRecord(
                id: row.id, name: try rows.name(of: row.kind), queue: try rows.queue(row.queue).name, state: row.state,
                priority: row.priority, input: inputs[row.id] ?? [], limitKey: row.key, parent: row.parent,
                addedAt: row.addedAt, readyAt: row.state == .waiting || row.state == .scheduled ? nil : row.readyAt,
                wakeAt: row.wakeAt, startedAt: row.startedAt, endedAt: row.endedAt, deadline: row.deadline,
                failures: Int(row.failures), crashes: Int(row.crashes), isCancelRequested: row.isCancelRequested,
                reason: row.reason)
        }
    }
}
