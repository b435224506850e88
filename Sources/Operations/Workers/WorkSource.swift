/// Something that keeps a worker busy: an operation queue, or the extra blocks of a block operation.
protocol WorkSource: AnyObject, Sendable {
    /// It has asked for its parallelism itself, so a thread is made at once; otherwise only for a free core, or when
    /// those at work are seen to be blocked.
    var isEager: Bool { get }
    /// What the threads are called while they work for it.
    var threadName: String? { get }
    /// Works on the worker's thread until nothing is left to start, or the worker should yield.
    func work(on worker: Worker)
}
