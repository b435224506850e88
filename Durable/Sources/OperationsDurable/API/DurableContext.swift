public import DurableCore
public import Foundation
public import GRDB

/// The surroundings of one attempt: its identity, steps, waits and additions.
///
/// Steps, sleeps, waits and additions form the history of the operation, in the order of their calls. A later attempt
/// makes the same calls in the same order, and receives the recorded results. The calls of one operation therefore do not
/// run concurrently.
public struct DurableContext: Sendable {
    package let attempt: AttemptState

    /// The identifier of the operation.
    public var id: OperationID { attempt.lease.operation }

    /// The store of the operation.
    public var store: any DurableStore { attempt.store }

    /// The number of this attempt, which begins at 1. Sleeps, waits and snoozes do not count.
    public var number: Int { Int(attempt.row.failures + attempt.row.lostLeases) + 1 }

    /// A key that is identical in every attempt, for effects outside the database.
    public var idempotencyKey: String { "\(attempt.store.identity)-\(id)" }

    /// Runs the body once, and records its result. Later attempts receive the recorded result.
    ///
    /// If the process ends between the body and the record, a later attempt runs the body again. If the body throws and
    /// the operation ends with the error, a later attempt runs the body again. If the operation catches the error and makes
    /// another entry in the history, later attempts receive a `DurableStepFailure` with the text of the error. A result that
    /// the store cannot keep is an error of the step, too.
    ///
    /// - Throws: The error of the body, or `DurableStepFailure`. `DurableError.historyMismatch` if the history has another
    ///   entry at this position. `DurableError.leaseLost`, which every further call of the context throws, too.
    public func step<Value: Codable & Sendable>(
        _ name: String, _ body: () async throws -> Value
    ) async throws -> Value {
        let (position, stored) = try attempt.next(.step, name)
        let subject = "result of step '\(name)'"
        if let stored { return try Payload.decode(Value.self, from: stored.result ?? [], of: subject) }
        let (value, bytes) = try await attempt.keepingFailure(.failedStep, name, at: position) {
            let value = try await body()
            let bytes = try Payload.encode(value, of: subject)
            try attempt.store.limits.checkPayload(bytes, of: subject)
            return (value, bytes)
        }
        try await attempt.commit { machine, lease in
            try machine.recordStep(name, result: bytes, position: position, by: lease)
        }
        return value
    }

    /// Runs the body once. Later attempts do not run the body.
    ///
    /// - Throws: As for a step with a result.
    public func step(_ name: String, _ body: () async throws -> Void) async throws {
        _ = try await step(name) {
            try await body()
            return true
        }
    }

    /// Releases slot and lease until the instant. The operation then runs again, on any machine, from its beginning.
    ///
    /// - Throws: `DurableSuspension`, which the operation does not catch. `DurableError.invalidValue` if the date is not a number.
    public func sleep(until date: Date) async throws { try await sleep(.at(DurableInstant(checking: date))) }

    /// Releases slot and lease for the duration. The operation then runs again, on any machine, from its beginning.
    ///
    /// - Throws: `DurableSuspension`, which the operation does not catch.
    public func sleep(for duration: Duration) async throws { try await sleep(.after(duration)) }

    private func sleep(_ wake: NewOperation.Start) async throws {
        let (position, stored) = try attempt.next(.sleep, "sleep")
        if stored != nil { return }
        _ = try await attempt.wait { machine, lease in
            try machine.sleep(until: wake, name: "sleep", position: position, by: lease)
        }
    }

    /// Returns the value of a signal. Releases slot and lease until a caller sends the signal.
    ///
    /// - Throws: `DurableError.signalTimeout`, in this attempt and in each later attempt. `DurableSuspension`, which the
    ///   operation does not catch.
    @discardableResult
    public func wait<Value: Codable & Sendable>(
        for name: String, as type: Value.Type, timeout: Duration? = nil
    ) async throws -> Value {
        let (position, stored) = try attempt.next(.signal, name)
        let payload: [UInt8]?
        if let stored {
            payload = stored.result
        } else {
            payload = try await attempt.wait { machine, lease in
                try machine.awaitSignal(name, timeout: timeout, position: position, by: lease)
            }
        }
        guard let payload else { throw DurableError.signalTimeout(name) }
        return try Payload.decode(type, from: payload, of: "signal '\(name)'")
    }

    /// Releases slot and lease until the operation has ended, and returns its output.
    ///
    /// Later attempts receive the same end, also when the operation was purged or ran again meanwhile. An output above 64 KiB is
    /// an exception: later attempts read it from the operation.
    ///
    /// - Throws: `DurableError.cycle` if the operation waits for this operation, also through barriers. `DurableError.notSucceeded`.
    ///   `DurableError.unknownOperation`. `DurableStepFailure` for an error that an earlier attempt caught, as for a step.
    ///   `DurableSuspension`, which the operation does not catch.
    @discardableResult
    public func wait<Output>(for handle: DurableHandle<Output>) async throws -> Output {
        let name = HistoryEntry.nameOfWait(for: handle.id)
        let (position, stored) = try attempt.next(.operations, name)
        if let end = AwaitedEnd(bytes: stored?.result ?? []) { return try handle.value(of: end) }
        let id = handle.id
        @Sendable func request(_ machine: inout DurableMachine, _ lease: Lease) throws -> WaitReply {
            try machine.awaitOperations([id], name: name, position: position, by: lease)
        }
        // A failure needs a position without an entry.
        let bytes: [UInt8]?
        if stored == nil {
            bytes = try await attempt.keepingFailure(.failedOperations, name, at: position) {
                try await attempt.wait(request)
            }
        } else {
            bytes = try await attempt.wait(request)
        }
        guard let end = AwaitedEnd(bytes: bytes ?? []) else { throw DurableError.unknownOperation(id) }
        return try handle.value(of: end)
    }

    /// Adds an operation once, however many attempts request the addition.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - queue: The queue of the new operation; nil for the queue of this operation.
    ///   - isChild: Whether the end of this operation waits for the end of the new operation.
    ///   - priority: The priority in the queue.
    ///   - dependencies: The operations that end before the new operation starts.
    ///   - retry: The rule for retries.
    ///   - options: Further options. The named parameters have precedence.
    /// - Throws: The errors of an addition to a queue. `DurableError.cycle` for a child that would wait for an operation that waits
    ///   for this operation, also through barriers. `DurableStepFailure` for an error that an earlier attempt caught, as for a step.
    @discardableResult
    public func add<Work: DurableOperation>(
        _ operation: Work, to queue: DurableQueue? = nil, isChild: Bool = false, priority: DurablePriority? = nil,
        after dependencies: [any DurableReference] = [], retry: RetryRule? = nil,
        options: DurableOptions = DurableOptions()
    ) async throws -> DurableHandle<Work.Output> {
        let (position, stored) = try attempt.next(.add, Work.name)
        if let id = HistoryEntry.ids(stored?.result).first { return DurableHandle(id: id, store: attempt.store) }
        let queue = queue ?? DurableQueue(attempt.queue, in: attempt.store)
        return try await attempt.keepingFailure(.failedAdd, Work.name, at: position) {
            var new = try queue.newOperation(operation, priority, dependencies, retry, options)
            new.isChild = isChild
            let id = try await attempt.commit { [new] machine, lease in
                try machine.add([new], position: position, by: lease)[0]
            }
            return DurableHandle(id: id, store: attempt.store)
        }
    }

    /// Completes the operation in a transaction of the application: the effect and the completion commit together.
    ///
    /// The attempt returns the same output afterward. If the transaction is rolled back, the attempt continues.
    ///
    /// - Throws: `DurableError.leaseLost`, also if an earlier transaction completed the operation: an effect is never repeated.
    ///   The application then rolls back the transaction.
    public func complete(_ output: some Sendable = (), in transaction: Database) throws {
        guard let store = attempt.store as? SQLiteStore else { throw DurableError.noSchema }
        let bytes = try Payload.encode(output, of: "output")
        let lease = attempt.lease
        let attempt = attempt
        try store.apply(in: transaction) { try attempt.complete(bytes, by: &$0) }
        transaction.afterNextTransaction { database in
            // A rollback to a savepoint undoes the completion, also when the transaction commits.
            if (try? store.isRunning(lease, in: database)) == false { attempt.setCompleted() }
        }
    }
}

/// The recorded error of a step, an addition or a wait for an operation, which an earlier attempt caught.
public struct DurableStepFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of the step, or of the operation.
    public let step: String
    /// The text of the error.
    public let reason: String
    /// The description of the call.
    let call: String

    public var description: String { "\(call) failed: \(reason)" }
}

/// The error by which a sleep or a wait ends an attempt that has released its slot and its lease.
///
/// The error is no failure. An operation that catches errors, for example to compensate for a failed step, throws this error
/// again. Every further call of the context throws it, too.
public struct DurableSuspension: Error, Sendable, Hashable, CustomStringConvertible {
    public var description: String { "the attempt has ended, and the operation runs again when its wait is over" }
}
