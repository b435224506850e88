import Synchronization

extension OperationQueue {
    /// Whether async operations inherit the task-local values and the priority of the code that adds them. The default is
    /// true.
    ///
    /// To inherit them, the task of an operation is created when the operation is added. If this property is false, a thread of
    /// the queue creates the task when the operation starts. Then a waiting operation needs about a tenth of the memory, and
    /// many short operations take less time. The priority of the task is that of the operation's `qualityOfService`, or medium.
    ///
    /// A change applies to operations that are added later. Operations inside a ``GroupOperation`` inherit from the task of the
    /// group. O(1).
    public final var inheritsTaskContext: Bool {
        get { !detachesTasks.load(ordering: .relaxed) }
        set { detachesTasks.store(!newValue, ordering: .relaxed) }
    }
}
