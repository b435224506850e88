import OperationsFoundation
import Testing

@Suite struct ProgressNestingTests {
    @Test func `the progress of an inner queue contributes to the outer one`() {
        let outer = OperationQueue()
        outer.progress.totalUnitCount = 2
        outer.addOperation {
            let inner = OperationQueue()
            inner.maxConcurrentOperationCount = 8
            inner.progress.totalUnitCount = 2000
            Progress.current()?.addChild(inner.progress, withPendingUnitCount: 1)
            for _ in 0..<1000 { inner.addOperation {} }
            inner.waitUntilAllOperationsAreFinished()
            #expect(outer.progress.fractionCompleted == 0.25)
        }
        outer.waitUntilAllOperationsAreFinished()
        #expect(outer.progress.fractionCompleted == 0.5)
    }

    @Test func `a child added to the queue's progress itself adds its units when it is finished`() {
        let queue = OperationQueue()
        queue.progress.totalUnitCount = 4
        let child = Progress(totalUnitCount: 2, parent: queue.progress, pendingUnitCount: 2)
        child.completedUnitCount = 1
        #expect(queue.progress.fractionCompleted == 0.25)
        #expect(queue.progress.completedUnitCount == 0)
        child.completedUnitCount = 2
        #expect(queue.progress.completedUnitCount == 2)
        #expect(queue.progress.fractionCompleted == 0.5)
    }

    @Test func `the thread's current progress is restored after main, even if main did not resign its own`() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.progress.totalUnitCount = 2
        queue.addOperation { Progress.discreteProgress(totalUnitCount: 1).becomeCurrent(withPendingUnitCount: 1) }
        queue.addOperation { queue.progress.totalUnitCount = 0 }
        queue.addOperation { #expect(Progress.current() == nil) }
        queue.waitUntilAllOperationsAreFinished()
    }

    /// A change that climbs a cycle of parents would never end.
    @Test(.timeLimit(.minutes(5)))
    func `a progress that is added to one of its descendants is not added`() {
        let queues = (0..<3).map { _ in OperationQueue() }
        for queue in queues { queue.progress.totalUnitCount = 2 }
        let progresses = queues.map(\.progress)
        progresses[0].addChild(progresses[1], withPendingUnitCount: 1)
        progresses[1].addChild(progresses[2], withPendingUnitCount: 1)
        for progress in progresses { progresses[2].addChild(progress, withPendingUnitCount: 1) }
        progresses[2].completedUnitCount = 1
        #expect(progresses.map(\.fractionCompleted) == [0.125, 0.25, 0.5])
        progresses[0].completedUnitCount = 1
        #expect(progresses.map(\.fractionCompleted) == [0.625, 0.25, 0.5])
    }

    @Test(.timeLimit(.minutes(5)), arguments: [false, true])
    func `a plain progress and a queue's progress that are added to each other count on`(isObserved: Bool) {
        let (plain, queue) = (Progress(totalUnitCount: 2), OperationQueue())
        let token = isObserved ? plain.observe(\.fractionCompleted) { _, _ in } : nil
        queue.progress.totalUnitCount = 2
        plain.addChild(queue.progress, withPendingUnitCount: 1)
        queue.progress.addChild(plain, withPendingUnitCount: 1)
        queue.progress.completedUnitCount = 1
        plain.completedUnitCount = 1
        #expect(plain.fractionCompleted >= 0.5 && queue.progress.fractionCompleted >= 0.5)
        token?.invalidate()
    }
}
