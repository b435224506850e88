import Operations
import OperationsFoundation
import TestSupport
import Testing

/// Rule G4: a child that is added to a progress that was cancelled or paused before.
@Suite(.timeLimit(.minutes(5))) struct ProgressLateChildTests {
    enum Parent: CaseIterable { case queue, group, operation, plain }

    /// Calls the body on this thread with a progress of this kind. If the progress is that of an operation, the operation runs
    /// meanwhile.
    private func withProgress(_ parent: Parent, _ body: (Progress) -> Void) {
        let (queue, progress, began, end) = (OperationQueue(), Guarded<Progress?>(nil), Gate(), Gate())
        queue.progress.totalUnitCount = 1
        switch parent {
        case .queue: body(queue.progress)
        case .group: body(GroupOperation { [BlockOperation {}] }.progress)
        case .operation:
            queue.addOperation {
                progress.withLock { $0 = .current() }
                began.open()
                end.pass()
            }
            began.pass()
            body(progress.withLock { $0! })
            end.open()
            queue.waitUntilAllOperationsAreFinished()
        case .plain: body(Progress.discreteProgress(totalUnitCount: 1))
        }
    }

    @Test(arguments: Parent.allCases)
    func `a child of a cancelled progress is cancelled when addChild returns, and its handler runs on another thread`(
        parent: Parent
    ) {
        withProgress(parent) { progress in
            progress.cancel()
            let (child, handled, threads) = (Progress.discreteProgress(totalUnitCount: 1), Gate(), Journal<Bool>())
            let adder = ThreadIdentity.current
            child.cancellationHandler = {
                threads.append(.current == adder)
                handled.open()
            }
            progress.addChild(child, withPendingUnitCount: 1)
            #expect(child.isCancelled)
            handled.pass()
            #expect(threads.entries == [false])
        }
    }

    @Test(arguments: Parent.allCases)
    func `a child of a paused progress is paused when addChild returns, and its handlers run on other threads`(
        parent: Parent
    ) {
        withProgress(parent) { progress in
            progress.pause()
            let (child, paused, resumed) = (Progress.discreteProgress(totalUnitCount: 1), Gate(), Gate())
            let (adder, threads) = (ThreadIdentity.current, Journal<Bool>())
            child.pausingHandler = {
                threads.append(.current == adder)
                paused.open()
            }
            child.resumingHandler = {
                threads.append(.current == adder)
                resumed.open()
            }
            progress.addChild(child, withPendingUnitCount: 1)
            #expect(child.isPaused)
            paused.pass()
            progress.resume()
            #expect(!child.isPaused)
            resumed.pass()
            #expect(threads.entries == [false, false])
        }
    }

    @Test(arguments: Parent.allCases)
    func `a progress that is created below a cancelled and paused one is cancelled and paused`(parent: Parent) {
        withProgress(parent) { progress in
            progress.pause()
            progress.cancel()
            let child = Progress(totalUnitCount: 1, parent: progress, pendingUnitCount: 1)
            let grandchild = Progress(totalUnitCount: 1, parent: child, pendingUnitCount: 1)
            #expect(child.isCancelled && child.isPaused)
            #expect(grandchild.isCancelled && grandchild.isPaused)
        }
    }

    @Test func `a queue whose progress is added to a cancelled or paused one is cancelled or suspended`() {
        let (cancelled, paused) = (Progress(totalUnitCount: 1), Progress(totalUnitCount: 1))
        cancelled.cancel()
        paused.pause()
        let (queue, operation) = (OperationQueue(), BlockOperation {})
        queue.isSuspended = true
        queue.addOperation(operation)
        cancelled.addChild(queue.progress, withPendingUnitCount: 1)
        #expect(operation.isCancelled && queue.progress.isCancelled)
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        let other = OperationQueue()
        paused.addChild(other.progress, withPendingUnitCount: 1)
        #expect(other.isSuspended && other.progress.isPaused)
        paused.resume()
        #expect(!other.isSuspended)
    }

    @Test(arguments: Parent.allCases)
    func `a cancellation handler that is set after the cancellation runs, and each further cancel runs it again`(
        parent: Parent
    ) {
        withProgress(parent) { progress in
            progress.cancel()
            let (first, second) = (Gate(), Gate(2))
            progress.cancellationHandler = {
                first.open()
                second.open()
            }
            first.pass()
            progress.cancel()
            second.pass()
        }
    }

    /// In Foundation, every call of `cancel()` cancels the children again.
    @Test(arguments: [Parent.queue, .group, .operation])
    func `a second cancel and a second pause do not reach the children again`(parent: Parent) {
        withProgress(parent) { progress in
            let child = Counting()
            progress.addChild(child, withPendingUnitCount: 1)
            for _ in 0..<2 {
                progress.pause()
                progress.cancel()
            }
            #expect(child.calls.entries == ["pause", "cancel"])
        }
    }
}

/// A progress that records the calls that reach it.
private final class Counting: Progress, @unchecked Sendable {
    // Sendable: the journal has a lock.
    let calls = Journal<String>()

    init() {
        super.init(parent: nil, userInfo: nil)
        totalUnitCount = 1
    }

    override func cancel() {
        calls.append("cancel")
        super.cancel()
    }

    override func pause() {
        calls.append("pause")
        super.pause()
    }
}

/// The thread that reads `current`. The thread lives as long as the test compares it.
private struct ThreadIdentity: Equatable, Sendable {
    private let thread: ObjectIdentifier

    static var current: ThreadIdentity { ThreadIdentity(thread: ObjectIdentifier(Thread.current)) }
}
