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
}
