import OperationsFoundation
import TestSupport
import Testing

@Suite struct ProgressSteeringTests {
    @Test func `cancelling the progress cancels the operations in the queue`() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.progress.totalUnitCount = 3
        let (started, gate, ran) = (Gate(), Gate(), Journal<String>())
        let running = BlockOperation {
            started.open()
            gate.pass()
        }
        let waiting = BlockOperation { ran.append("waiting") }
        queue.addOperation(running)
        queue.addOperation(waiting)
        started.pass()
        queue.progress.cancel()
        #expect(running.isCancelled && waiting.isCancelled)
        #expect(queue.progress.isCancelled)
        gate.open()
        queue.waitUntilAllOperationsAreFinished()
        #expect(ran.entries.isEmpty)
    }

    @Test func `cancelling the progress cancels existing and later children of operations`() {
        let queue = OperationQueue()
        queue.progress.totalUnitCount = 1
        let (made, cancelled) = (Gate(), Gate())
        queue.addOperation {
            let first = Progress(totalUnitCount: 1)
            made.open()
            cancelled.pass()
            #expect(first.isCancelled)
            #expect(Progress(totalUnitCount: 1, parent: .current()!, pendingUnitCount: 1).isCancelled)
        }
        made.pass()
        queue.progress.cancel()
        cancelled.open()
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `cancelling a parent progress cancels the queue's operations`() {
        let queue = OperationQueue()
        queue.isSuspended = true
        let operation = BlockOperation {}
        queue.addOperation(operation)
        let above = Progress.discreteProgress(totalUnitCount: 1)
        above.addChild(queue.progress, withPendingUnitCount: 1)
        above.cancel()
        #expect(operation.isCancelled)
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `pausing suspends the queue and resuming resumes it`() {
        let queue = OperationQueue()
        queue.progress.totalUnitCount = 1
        #expect(queue.progress.isPausable)
        queue.progress.pause()
        #expect(queue.isSuspended)
        queue.addOperation {}
        #expect(queue.progress.completedUnitCount == 0)
        queue.progress.resume()
        #expect(!queue.isSuspended)
        queue.waitUntilAllOperationsAreFinished()
        #expect(queue.progress.completedUnitCount == 1)
    }

    @Test(.tags(.release), .timeLimit(.minutes(5)))
    func `a queue whose progress was read is freed, and its progress can still be used`() async {
        var queue: OperationQueue? = OperationQueue()
        let seenQueue = Weak(queue)
        var progress: Progress? = queue!.progress
        progress?.totalUnitCount = 1
        queue!.addOperation { _ = Progress(totalUnitCount: 1) }
        await queue!.waitUntilAllOperationsAreFinished()
        queue = nil
        await seenQueue.goes()
        progress?.cancel()
        progress?.pause()
        progress?.resume()
        #expect(progress?.completedUnitCount == 1)
        // The queue's weak reference is nil, but the release of its progress may still be running.
        let seenProgress = Weak(progress)
        progress = nil
        await seenProgress.goes()
        #expect(seenQueue.isGone && seenProgress.isGone)
    }

    @Test(.tags(.threads)) func `threads that read the progress first all receive the same object`() {
        let queue = OperationQueue()
        let seen = Journal<ObjectIdentifier>()
        DispatchQueue.concurrentPerform(iterations: 8) { _ in seen.append(ObjectIdentifier(queue.progress)) }
        #expect(Set(seen.entries).count == 1)
    }

    @Test func `a queue is a reporter of progress`() {
        let queue = OperationQueue()
        let reporting: any ProgressReporting = queue
        #expect(reporting.progress === queue.progress)
        #expect(reporting.isEqual(queue) && !reporting.isEqual(OperationQueue()) && !reporting.isProxy())
        #expect(reporting.`self`() === queue)
        #expect(reporting.hash == queue.hash)
        #expect(reporting.debugDescription == queue.description)
    }

    @Test func `pausing the progress pauses existing and later children of operations until the resume`() {
        let queue = OperationQueue()
        queue.progress.totalUnitCount = 1
        let (made, paused, checked, resumed) = (Gate(), Gate(), Gate(), Gate())
        queue.addOperation {
            let first = Progress(totalUnitCount: 1)
            made.open()
            paused.pass()
            let second = Progress(totalUnitCount: 1, parent: .current()!, pendingUnitCount: 1)
            #expect(first.isPaused && second.isPaused)
            checked.open()
            resumed.pass()
            #expect(!first.isPaused && !second.isPaused)
        }
        made.pass()
        queue.progress.pause()
        paused.open()
        checked.pass()
        queue.progress.resume()
        resumed.open()
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `an operation that begins after the cancellation of the progress creates cancelled children`() {
        let queue = OperationQueue()
        queue.progress.totalUnitCount = 1
        queue.progress.cancel()
        let seen = Journal<Bool>()
        queue.addOperation { seen.append(Progress(totalUnitCount: 1).isCancelled) }
        queue.waitUntilAllOperationsAreFinished()
        #expect(seen.entries == [true])
    }

    @Test func `an operation that begins while the progress is paused creates paused children`() {
        let queue = OperationQueue()
        queue.progress.totalUnitCount = 1
        queue.progress.pause()
        let seen = Journal<Bool>()
        queue.addOperation { seen.append(Progress(totalUnitCount: 1).isPaused) }
        // The queue runs again, and its progress is still paused.
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(seen.entries == [true])
    }

    @Test(arguments: [false, true]) func `the end of a pause restores the suspension that the caller set last`(
        isSuspended: Bool
    ) {
        let queue = OperationQueue()
        queue.isSuspended = !isSuspended
        queue.progress.pause()
        queue.isSuspended = isSuspended
        queue.progress.resume()
        #expect(queue.isSuspended == isSuspended)
    }

    @Test func `observers are notified of a pause and of its end`() {
        let queue = OperationQueue()
        let log = Journal<Bool?>()
        let token = queue.progress.observe(\.isPaused, options: .new) { log.append($1.newValue) }
        queue.progress.pause()
        queue.progress.resume()
        #expect(log.entries == [true, false])
        token.invalidate()
    }
}
