/// Something that keeps a worker busy: an operation queue, the extra blocks of a block operation, a task of the system's own.
protocol WorkSource: AnyObject, Sendable {
    /// When it gets a thread.
    var urgency: Urgency { get }
    /// What the threads are called while they work for it.
    var threadName: String? { get }
    /// Works on the worker's thread until nothing is left to start, or the worker should yield.
    func work(on worker: Worker)
}

/// When a source gets a thread. The sources of one urgency do not wait for those of another.
enum Urgency: CaseIterable, Sendable {
    /// The source leaves its parallelism to the system: it gets a thread for a free core, or when the threads at work are
    /// seen to be blocked.
    case shared
    /// The source has asked for its parallelism itself: it gets a thread at once, up to a documented number.
    case eager
    /// Time and policies: timers, conditions, stall reports. They get threads of their own, however many others compute.
    case prompt
}
