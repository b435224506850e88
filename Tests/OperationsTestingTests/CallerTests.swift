import Dispatch
import Operations
import OperationsTesting
import TestSupport
import Testing

/// The detection of the current operation when tasks change threads.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct CallerTests {
    /// A thread that drains an actor for an operation also runs other tasks that wait for the actor.
    @Test func `a task that resumes on the thread of an operation is not part of the operation`() async throws {
        let others = ManualExecutor()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let operation = TaskOperation { others.runUntilIdle() }
        let (seen, hasEnded) = (Guarded<[OperationQueue?]>([queue]), Guarded(false))
        let stranger = others.task { () -> OperationError? in
            defer { hasEnded.withLock { $0 = true } }
            seen.withLock { $0 = [OperationQueue.current] }
            do throws(OperationError) {
                try await operation.tryWaitUntilFinished()
                try await queue.tryWaitUntilAllOperationsAreFinished()
            } catch { return error }
            return nil
        }
        queue.addOperation(operation)
        _ = try await operation.value
        // Both callers that wait for the operation resume one after the other, possibly this one first.
        while !hasEnded.withLock({ $0 }) {
            others.runUntilIdle()
            await Task.yield()
        }
        #expect(try await stranger.value == nil)
        #expect(seen.withLock { $0 } == [nil])
    }

    @Test func `an operation that awaits itself from an actor with its own threads receives an error`() async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let actor = Elsewhere()
        let itself = Guarded<TaskOperation<[String]>?>(nil)
        let operation = TaskOperation {
            let operation = itself.withLock { $0! }
            let other = OperationQueue.current!.addTask {}
            return await [
                actor.misuse { try await operation.tryWaitUntilFinished() },
                actor.misuse { try await other.tryWaitUntilFinished() },
                actor.misuse { try await queue.tryWaitUntilAllOperationsAreFinished() },
            ]
        }
        itself.withLock { $0 = operation }
        queue.addOperation(operation)
        let messages = try await operation.value
        itself.withLock { $0 = nil }
        #expect(messages.count { $0.contains("waits for ") } == 3, "\(messages)")
    }

    private actor Elsewhere {
        private let executor = OwnThread()
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        func misuse(_ body: @Sendable () async throws -> Void) async -> String {
            do { try await body() } catch { return "\(error)" }
            return "nothing"
        }
    }

    private final class OwnThread: SerialExecutor {
        private let queue = DispatchQueue(label: "elsewhere")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }
    }
}
