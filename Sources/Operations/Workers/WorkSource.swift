/// A source of work for a worker: an operation queue, the extra blocks of a block operation, or a task of the system.
protocol WorkSource: AnyObject, Sendable {
    /// The rule for giving the source a thread.
    var urgency: Urgency { get }
    /// The name of the threads while they work for the source.
    var threadName: String? { get }
    /// Works on the worker's thread until no work is left to start, or the worker should yield.
    func work(on worker: Worker)
    /// Called when the system has refused a thread of this level for a request, under the lock of the pool. No other thread of
    /// the library may make the request again.
    func noThreadComes(of level: ServiceLevel)
}

extension WorkSource {
    func noThreadComes(of level: ServiceLevel) {}
}

/// Work that a thread of a pool does once.
final class PoolJob: WorkSource {
    let urgency: Urgency
    let threadName: String?
    private let body: @Sendable () -> Void

    init(urgency: Urgency = .prompt, threadName: String?, _ body: @escaping @Sendable () -> Void) {
        (self.urgency, self.threadName, self.body) = (urgency, threadName, body)
    }

    func work(on worker: Worker) { body() }
}

/// A rule for giving a source a thread. The sources of one urgency do not wait for sources of another urgency.
enum Urgency: Int, CaseIterable, Sendable {
    /// The source leaves its parallelism to the system. It gets a thread for a free core, or when the working threads are
    /// found to be blocked.
    case shared
    /// The source has requested its parallelism itself. It gets a thread at once, up to a documented number.
    case eager
    /// The source belongs to timers, conditions or stall reports. It gets a separate thread, regardless of other
    /// computing threads.
    case prompt
}
