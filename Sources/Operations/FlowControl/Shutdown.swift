import SchedulerCore

/// The operations that a queue still held at the end of its shutdown. See ``OperationQueue/shutDown(grace:cancellationGrace:clock:)``.
public struct ShutdownReport: Sendable, CustomStringConvertible {
    /// The queue's name.
    public let queue: String
    /// The operations that had not finished when the grace was over, as they were before they were cancelled.
    public let cancelled: [Explanation]
    /// Those of them that had not ended when the call returned. They ignore their cancellation, or need longer.
    public let unfinished: [Explanation]

    /// Whether all operations, barriers and jobs of tasks ended in time, so that none was cancelled.
    public let isComplete: Bool

    /// One line for the queue, and at most 20 lines for the operations of the first of the two lists that is not empty.
    public var description: String {
        let place = "queue \(queue.inQuotes) was shut down"
        guard !isComplete else { return "\(place): all operations finished" }
        let listed = unfinished.isEmpty ? cancelled : unfinished
        let lines = listed.lines(atMost: StallReport.describedOperations)
        return (["\(place): \(cancelled.count) cancelled, \(unfinished.count) still in the queue"] + lines)
            .joined(separator: "\n  ")
    }
}

extension OperationQueue {
    /// Shuts the queue down: refuses new operations from now on, lets the operations that are in the queue finish for a time, and
    /// cancels the others.
    ///
    /// ```swift
    /// let report = await queue.shutDown(grace: .seconds(20))
    /// if !report.isComplete { print(report) }
    /// ```
    ///
    /// An adding call that throws throws ``OperationError/queueShutDown(queue:)``. After other adding calls the operation fails with
    /// this error and never runs. So does the operation of a caller that waits for capacity. Jobs of tasks that prefer the queue as
    /// their executor still run.
    ///
    /// When the grace is over, or the calling task is cancelled, the call cancels the operations that are left. It also ends a
    /// suspension, and a concurrency limit of 0, so that they can leave. Then it waits for their ends. Work that ignores
    /// its cancellation continues: no operation is stopped by force.
    ///
    /// An operation that another thread is adding at the moment of the call may still be accepted.
    ///
    /// Several calls may wait at a time. A queue that was shut down cannot be used again.
    ///
    /// - Parameters:
    ///   - grace: The time that the operations have to finish.
    ///   - cancellationGrace: The time that cancelled operations have to end.
    ///   - clock: The clock that measures both.
    /// - Returns: The operations that were left when the grace was over, and those that are left now.
    @discardableResult
    public final func shutDown(
        grace: Duration, cancellationGrace: Duration = .seconds(1), clock: some Clock<Duration> = ContinuousClock()
    ) async -> ShutdownReport {
        refuseAll()
        let name = readName() ?? ""
        if await isEmpty(within: grace, clock) {
            return ShutdownReport(queue: name, cancelled: [], unfinished: [], isComplete: true)
        }
        let left = explain()
        cancelAllOperations()
        isSuspended = false
        if maxConcurrentOperationCount == 0 { maxConcurrentOperationCount = 1 }
        let cancelled = left.executing + left.waiting
        // Not a child task, whose wait would end with a cancelled task.
        let isEmpty = await Task(executorPreference: executorBeside) {
            await self.isEmpty(within: cancellationGrace, clock)
        }.value
        let rest = isEmpty ? nil : explain()
        let unfinished = rest.map { $0.executing + $0.waiting } ?? []
        return ShutdownReport(queue: name, cancelled: cancelled, unfinished: unfinished, isComplete: false)
    }

    /// Whether ``shutDown(grace:cancellationGrace:clock:)`` was called.
    public final var isShutDown: Bool { additionPolicy(ShutdownGate.self) != nil }

    private func refuseAll() {
        ownHooks.addIfNone(ShutdownGate(), comesFirst: true)
        // Callers that wait for capacity are refused when they have a place.
        additionPolicy(CapacityGate.self)?.admitAll(of: self)
    }

    /// Not the public wait: an operation of the queue may shut it down.
    private func isEmpty(within limit: Duration, _ clock: some Clock<Duration>) async -> Bool {
        if withState({ $0.machine.schedule.isEmpty }) { return true }
        return await withTimeLimit(limit, clock) { await self.suspendUntilIdle() }
    }
}

/// Refuses operations and barriers. Tasks that prefer the queue could not end without their jobs, which it lets pass.
private final class ShutdownGate: AdditionPolicy {
    func mayAdd(_ operations: [Operation], to queue: OperationQueue) throws(OperationError) {
        let areJobs = operations.allSatisfy {
            $0.word.lifecycle.contains(.unlisted) && !$0.word.lifecycle.contains(.barrier)
        }
        if !areJobs { throw .queueShutDown(queue: queue.label) }
    }
}
