import Dispatch
import Operations
import Synchronization
import TestSupport
import Testing

/// A worker that waits for work lets other threads call no worker. It must not do anything else meanwhile.
@Suite(.onOwnThread, .timeLimit(.minutes(1)), .tags(.threads, .release)) struct LingeringTests {
    /// With many tiny operations before it, one worker attends the queue.
    @Test(arguments: [0, Stress.rounds(10_000, least: 2_000)])
    func `an executor that keeps a thread which resumes a task holds up no operation of the queue`(before: Int) {
        let (queue, operation) = (OperationQueue(), BlockOperation {})
        let executor = KeepingExecutor(until: queue)
        let task = Task(executorPreference: executor) { await operation.waitUntilFinished() }
        executor.isSuspended.pass()
        for _ in 0..<before { queue.addOperation {} }
        queue.addOperation(operation)
        executor.hasKept.pass()
        withExtendedLifetime(task) {}
    }

    @Test func `an executor that keeps a thread which resumes a task does not hold up the next operation`() {
        let (queue, gate) = (OperationQueue(), Gate())
        queue.maxConcurrentOperationCount = 1
        let operation = BlockOperation { gate.pass() }
        let executor = KeepingExecutor(until: queue)
        let task = Task(executorPreference: executor) { await operation.waitUntilFinished() }
        executor.isSuspended.pass()
        queue.addOperation(operation)
        // The worker would claim it when the first operation leaves.
        queue.addOperation {}
        gate.open()
        executor.hasKept.pass()
        withExtendedLifetime(task) {}
    }

    @Test func `an executor that keeps a thread which resumes a task that waits for all holds up no operation`() {
        let (queue, gate) = (OperationQueue(), Gate())
        queue.addOperation { gate.pass() }
        let executor = KeepingExecutor(until: queue)
        let task = Task(executorPreference: executor) { await queue.waitUntilAllOperationsAreFinished() }
        executor.isSuspended.pass()
        gate.open()
        executor.hasKept.pass()
        withExtendedLifetime(task) {}
    }

    /// With many tiny operations before it, one worker attends the queue.
    @Test(arguments: [0, 10_000])
    func `a deinit that waits for another operation of the queue holds up no operation`(before: Int) {
        let (queue, hasWaited) = (OperationQueue(), Gate())
        for _ in 0..<before { queue.addOperation {} }
        queue.addOperation(WaitingAtEnd(for: queue, hasWaited))
        hasWaited.pass()
        queue.waitUntilAllOperationsAreFinished()
    }
}

/// Waits for another operation of a queue when it is released.
private final class WaitingAtEnd: Operation, @unchecked Sendable {
    private let queue: OperationQueue
    private let hasWaited: Gate

    init(for queue: OperationQueue, _ hasWaited: Gate) {
        self.queue = queue
        self.hasWaited = hasWaited
    }

    deinit {
        let ran = Gate()
        queue.addOperation { ran.open() }
        ran.pass()
        hasWaited.open()
    }
}

/// Runs a task on threads of Dispatch. Keeps the thread that resumes the task until a queue has run one more operation.
private final class KeepingExecutor: TaskExecutor {
    let isSuspended = Gate()
    let hasKept = Gate()
    private let queue: OperationQueue
    private let jobs = Atomic(0)

    init(until queue: OperationQueue) { self.queue = queue }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isFirst = jobs.add(1, ordering: .relaxed).oldValue == 0
        if !isFirst {
            let ran = Gate()
            queue.addOperation { ran.open() }
            ran.pass()
            hasKept.open()
        }
        DispatchQueue.global().async { [self] in
            job.runSynchronously(on: asUnownedTaskExecutor())
            if isFirst { isSuspended.open() }
        }
    }
}
