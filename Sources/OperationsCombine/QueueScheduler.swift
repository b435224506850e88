#if Combine
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
public import OpenCombine
public import Operations

/// A queue as a scheduler with a clock of your choice; see `OperationQueue.scheduler(clock:)`.
///
/// Apart from the clock, it behaves as the queue itself does as a scheduler.
public struct QueueScheduler: Scheduler, Sendable {
    public typealias SchedulerTimeType = Operations.OperationQueue.SchedulerTimeType
    public typealias SchedulerOptions = Operations.OperationQueue.SchedulerOptions

    /// The queue that runs the actions.
    public let queue: Operations.OperationQueue
    let agenda: Agenda

    /// The present date of the clock.
    public var now: SchedulerTimeType {
        SchedulerTimeType(Date(timeIntervalSinceReferenceDate: agenda.timeline.now))
    }

    /// Zero.
    public var minimumTolerance: SchedulerTimeType.Stride { 0 }

    /// Adds the action to the queue.
    public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
        let action = Action(action)
        // One addition, also for a subclass of the queue that counts the calls of both members.
        queue.addOperation(BlockOperation { action.run() })
    }

    /// Adds the action to the queue at a date. The tolerance is ignored.
    public func schedule(
        after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, options: SchedulerOptions?,
        _ action: @escaping () -> Void
    ) {
        let action = Action(action)
        let entry = Agenda.Entry { [queue, line = agenda.additions] in
            line.add(BlockOperation { action.run() }, to: queue)
        }
        agenda.enter(entry, at: date.date.timeIntervalSinceReferenceDate)
    }

    /// Adds the action to the queue at a date, and again at each interval. The tolerance is ignored.
    public func schedule(
        after date: SchedulerTimeType, interval: SchedulerTimeType.Stride, tolerance: SchedulerTimeType.Stride,
        options: SchedulerOptions?, _ action: @escaping () -> Void
    ) -> any Cancellable {
        let repetition = Repetition(
            Action(action), on: queue, by: agenda, from: date.date.timeIntervalSinceReferenceDate,
            every: interval.timeInterval)
        repetition.begin()
        return Token(repetition)
    }

    /// A handle that cancels a repetition, also when it is released. Several threads may use it at the same time. OpenCombine's
    /// `AnyCancellable` changes its closure without a lock.
    private final class Token: Cancellable, Sendable {
        private let repetition: Repetition

        init(_ repetition: Repetition) { self.repetition = repetition }

        deinit { repetition.cancel() }

        func cancel() { repetition.cancel() }
    }
}

extension Operations.OperationQueue {
    /// Returns the queue as a scheduler with the time of a clock, for tests in virtual time.
    ///
    /// With the manual executor and the virtual clock of `OperationsTesting`, a day's delay takes no time:
    ///
    /// ```swift
    /// let queue = executor.makeQueue()
    /// let scheduler = queue.scheduler(clock: clock)
    /// let token = subject.debounce(for: .seconds(3600), scheduler: scheduler).sink { text in print(text) }
    /// executor.runUntilIdle(advancing: clock)
    /// ```
    ///
    /// At this call, the date of the scheduler is the beginning of 2001, for every instant of the clock. The date advances with
    /// the clock.
    public final func scheduler(clock: some Clock<Duration>) -> QueueScheduler {
        QueueScheduler(queue: self, agenda: Agenda(Timeline(of: clock), executor: executorBeside))
    }
}
#endif
