import Synchronization

extension OperationQueue {
    /// Whether async operations inherit the task-local values and the priority of the code that adds them. The default is
    /// true.
    ///
    /// To inherit them, the task of an operation is created when the operation is added. If this property is false, a thread of
    /// the queue creates the task when the operation starts. Then a waiting operation needs about a tenth of the memory, and
    /// many short operations take less time. The priority of the task is that of the operation's `qualityOfService`, or medium.
    ///
    /// A change applies to operations that are added later. A ``GroupOperation`` or a ``RetryOperation`` that is added to the
    /// queue also takes this setting for the operations that are added to it later. Earlier children of a group inherit from
    /// the code that added them to the group. O(1).
    public final var inheritsTaskContext: Bool {
        get { !detachesTasks.load(ordering: .relaxed) }
        set { detachesTasks.store(!newValue, ordering: .relaxed) }
    }
}
