/// A test of the conditions of an operation, and the operation or queue that its code waits for (rule A16).
///
/// The waits of the task of the test only. Its child tasks may continue while it waits, and a task that it creates may outlive it.
final class ConditionTest: Sendable {
    @TaskLocal private static var current: ConditionTest?

    private struct State {
        /// The identity of the task.
        var task: Int?
        var subject: InnerWaits.Subject?
    }

    private let state = Locked(State())

    /// Runs the test as a part of the calling task.
    func run<Result: Sendable>(_ body: @Sendable () async -> Result) async -> Result {
        let task = Self.identityOfTask
        state.withLock { $0.task = task }
        return await Self.$current.withValue(self, operation: body)
    }

    private static var identityOfTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }

    /// The test that the current task runs. A task that was created by the test inherits the value, and is another task.
    static var ofCurrentTask: ConditionTest? {
        guard let test = current, let task = identityOfTask else { return nil }
        return test.state.withLock { $0.task == task } ? test : nil
    }

    var subject: InnerWaits.Subject? { state.withLock { $0.subject } }

    func begins(_ subject: InnerWaits.Subject) { state.withLock { $0.subject = subject } }

    /// The caller holds the subject, so it is not released under the lock.
    func ends() { state.withLock { $0.subject = nil } }
}
