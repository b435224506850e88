#if Combine
public import OpenCombine
public import Operations

/// A queue as an OpenCombine scheduler, as Foundation's queue is a Combine scheduler.
///
/// ```swift
/// let token = publisher.receive(on: queue).sink { value in print(value) }
/// ```
///
/// Each action becomes a block operation of the queue. The operation waits for a slot behind earlier operations and barriers,
/// and it does not start while the queue is suspended.
///
/// An action for a later date becomes an operation at that date. Before the date, the action uses no slot and no thread, and it
/// is neither listed nor counted. Waiting for the queue's operations does not include it, and `cancelAllOperations()` does not
/// cancel it. The action keeps the queue alive. The queue adds due actions in the order of their dates, and actions of the same
/// date in the order in which they were scheduled.
///
/// **Order.** On a serial queue a subscriber receives values in the order in which they were sent. With any other concurrency
/// limit, actions may overtake one another. The values then change their order, and a completion may overtake values, which
/// OpenCombine drops. Use a serial queue where the order or the last value matters.
///
/// **Loss.** If the queue cancels or drops an operation, the operation does not run, and its value is lost. If a bounded queue
/// is full, an action without a date is a programming error, as with `addOperation`. An action with a date waits for capacity.
/// A run of a repetition is skipped.
extension Operations.OperationQueue: Scheduler {
    /// The present date. The clock runs evenly and follows the system's clock to within one millisecond.
    public var now: SchedulerTimeType { inRealTime.now }

    /// Zero, because the queue adds an action as soon as its date has come.
    public var minimumTolerance: SchedulerTimeType.Stride { inRealTime.minimumTolerance }

    /// Adds the action to the queue. The action never runs on the calling thread. O(1).
    public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
        inRealTime.schedule(options: options, action)
    }

    /// Adds the action to the queue at a date, or at once if the date has passed. O(log n) for n waiting actions.
    ///
    /// This call fixes the delay. A later change of the system clock has no effect. The maximum delay is one hundred years.
    ///
    /// - Parameters:
    ///   - date: The date at which the queue adds the action.
    ///   - tolerance: Ignored; the queue adds the action as soon as possible.
    ///   - options: Ignored.
    ///   - action: The action to run.
    public func schedule(
        after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, options: SchedulerOptions?,
        _ action: @escaping () -> Void
    ) {
        inRealTime.schedule(after: date, tolerance: tolerance, options: options, action)
    }

    /// Adds the action to the queue at a date, and again at each interval until the repetition is cancelled.
    ///
    /// The queue contains the action at most once, and the action never runs twice at the same time. Dates that pass while the
    /// action waits or runs are skipped, so a suspended queue runs the action only once when it resumes. The next date is again
    /// the first date plus a multiple of the interval. If the interval is zero or negative, the action runs again as soon as it
    /// has ended. If a run is cancelled with the queue's operations, or a bounded queue is full, that run is skipped and the
    /// next one follows.
    ///
    /// - Parameters:
    ///   - date: The first date.
    ///   - interval: The time between two dates.
    ///   - tolerance: Ignored; the queue adds the action as soon as possible.
    ///   - options: Ignored.
    ///   - action: The action to run.
    /// - Returns: A handle that cancels the repetition by `cancel()` or by its release. After the cancellation no run begins,
    ///   and a current run continues. `cancel()` may be called on any thread, and by the action itself.
    public func schedule(
        after date: SchedulerTimeType, interval: SchedulerTimeType.Stride, tolerance: SchedulerTimeType.Stride,
        options: SchedulerOptions?, _ action: @escaping () -> Void
    ) -> any Cancellable {
        inRealTime.schedule(after: date, interval: interval, tolerance: tolerance, options: options, action)
    }

    private var inRealTime: QueueScheduler { QueueScheduler(queue: self, agenda: .realTime) }
}
#endif
