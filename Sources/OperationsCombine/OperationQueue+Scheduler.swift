#if Combine
public import OpenCombine
public import Operations

/// A queue as a scheduler of OpenCombine, as Foundation's is one of Combine.
///
///     publisher.receive(on: queue).sink { … }
///
/// Each action becomes a block operation of the queue: it waits for a slot, behind what has come before it and behind
/// barriers, and not while the queue is suspended. An action for later is no operation until its date: it takes neither
/// slot nor thread, is neither listed, counted nor waited for, and is not cancelled by `cancelAllOperations()`. It keeps
/// the queue alive. Actions whose dates have come are added in the order of their dates, those of one date in the
/// order in which they were scheduled.
///
/// **Order.** On a serial queue a subscriber gets values in the order in which they were sent. At any other width
/// actions overtake one another: values change their order, and a completion may pass values, which OpenCombine then
/// drops. Use a serial queue wherever order, or the last value, matters.
///
/// **Loss.** An operation that the queue cancels or sheds does not run, and its value is lost. An action for now that finds a
/// bounded queue full is misuse, as with `addOperation` (M12). One whose date comes then waits for room; a run of a repetition
/// is left out.
extension Operations.OperationQueue: Scheduler {
    /// The present date, by a clock that runs evenly and follows the system's to a millisecond.
    public var now: SchedulerTimeType { inRealTime.now }

    /// Zero: the queue is told of an action as soon as its date has come.
    public var minimumTolerance: SchedulerTimeType.Stride { inRealTime.minimumTolerance }

    /// Adds the action to the queue. Never runs it on the calling thread. O(1).
    public func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
        inRealTime.schedule(options: options, action)
    }

    /// Adds the action to the queue at a date, or soon when the date has passed. O(log n) for n that wait.
    ///
    /// How long it takes until then is settled by this call: a system clock that is set afterwards changes nothing. What
    /// lies more than a hundred years ahead comes after a hundred years.
    ///
    /// - Parameter tolerance: Not made use of; the action is added as soon as can be.
    public func schedule(
        after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, options: SchedulerOptions?,
        _ action: @escaping () -> Void
    ) {
        inRealTime.schedule(after: date, tolerance: tolerance, options: options, action)
    }

    /// Adds the action to the queue at a date and, as long as it is not cancelled, again each interval later.
    ///
    /// The action is in the queue once at most, and never runs twice at a time. Dates that pass while it waits or runs are
    /// left out, so a suspended queue has one run to make up for, not many; the next date is again the first one plus
    /// a number of intervals. An interval that is not above zero runs it again as soon as it has ended. A run that is
    /// cancelled with the queue's operations, or finds a bounded queue full, is left out; the next one comes.
    ///
    /// - Parameter tolerance: Not made use of; the action is added as soon as can be.
    /// - Returns: What cancels the repetition, by `cancel()` or by its release. From then on no run begins; one that has
    ///   begun goes on. It may be called on any thread, also by the action.
    public func schedule(
        after date: SchedulerTimeType, interval: SchedulerTimeType.Stride, tolerance: SchedulerTimeType.Stride,
        options: SchedulerOptions?, _ action: @escaping () -> Void
    ) -> any Cancellable {
        inRealTime.schedule(after: date, interval: interval, tolerance: tolerance, options: options, action)
    }

    private var inRealTime: QueueScheduler { QueueScheduler(queue: self, agenda: .realTime) }
}
#endif
