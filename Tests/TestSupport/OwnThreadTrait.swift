package import Testing

extension Trait where Self == OwnThreadTrait {
    /// Runs each test on threads of its own, for a test that blocks its thread.
    ///
    /// The concurrency runtime has one thread per processor. Tests that block all of these stop every task of the process,
    /// for as long as they run. Other tests that wait for a task then seem to hang.
    package static var onOwnThread: Self { Self() }

    /// The same with a stack of one megabyte, which a recursion over some thousand objects overflows.
    package static var onSmallStack: Self { Self(stackSize: 1 << 20) }
}

package struct OwnThreadTrait: SuiteTrait, TestTrait, TestScoping {
    var stackSize: Int?
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(ThreadPerJob(stackSize: stackSize)) { try await function() }
    }
}

/// Runs each job on a new thread, so that no job waits for another one.
private final class ThreadPerJob: TaskExecutor {
    private let stackSize: Int?

    init(stackSize: Int?) { self.stackSize = stackSize }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        // The thread keeps the executor alive until the job has run.
        _ = TestThread(stackSize: stackSize) { [self] in
            withExtendedLifetime(self) { job.runSynchronously(on: executor) }
        }
    }
}
