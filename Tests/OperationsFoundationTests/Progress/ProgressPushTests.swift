import Operations
import OperationsFoundation
import TestSupport
import Testing

/// Rule A7: a change in a child reaches parents and observers at once.
@Suite(.timeLimit(.minutes(5)), .tags(.release)) struct ProgressPushTests {
    @Test func `each step of a child is pushed to observers and to the parent progress`() {
        let (queue, log, above) = (OperationQueue(), Journal<Double>(), Progress(totalUnitCount: 2))
        let progress = queue.progress
        progress.totalUnitCount = 1
        above.addChild(progress, withPendingUnitCount: 1)
        let token = progress.observe(\.fractionCompleted, options: .new) { log.append($1.newValue!) }
        queue.addOperation {
            let child = Progress(totalUnitCount: 4)
            for step in 1...3 {
                child.completedUnitCount += 1
                #expect(progress.fractionCompleted == Double(step) / 4)
                #expect(above.fractionCompleted == Double(step) / 8)
            }
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == [0.25, 0.5, 0.75, 1])
        #expect(above.fractionCompleted == 0.5)
        token.invalidate()
    }

    @Test func `changes of a child of the queue's progress are pushed to the parent progress`() {
        let (queue, above) = (OperationQueue(), Progress(totalUnitCount: 1))
        let progress = queue.progress
        progress.totalUnitCount = 2
        above.addChild(progress, withPendingUnitCount: 1)
        let child = Progress(totalUnitCount: 4)
        progress.addChild(child, withPendingUnitCount: 1)
        child.completedUnitCount = 1
        #expect(above.fractionCompleted == 0.125)
        child.completedUnitCount = 4
        #expect(above.fractionCompleted == 0.5)
        #expect(progress.completedUnitCount == 1)
    }

    @Test func `changes of grandchildren, children's totals and units of the current progress are pushed`() {
        let (queue, log) = (OperationQueue(), Journal<Double>())
        let progress = queue.progress
        progress.totalUnitCount = 1
        let token = progress.observe(\.fractionCompleted, options: .new) { log.append($1.newValue!) }
        let child = Progress(totalUnitCount: 4, parent: progress, pendingUnitCount: 1)
        let grandchild = Progress(totalUnitCount: 2, parent: child, pendingUnitCount: 2)
        change(child, grandchild)
        #expect(log.entries == [0.25, 0.5, 0.25, 0.5, 0.75])
        token.invalidate()
    }

    /// Not inlined: the function that creates a child may keep addresses of methods from before the child's class changed.
    @inline(never) private func change(_ child: Progress, _ grandchild: Progress) {
        grandchild.completedUnitCount = 1
        grandchild.completedUnitCount = 2
        child.totalUnitCount = 8
        child.becomeCurrent(withPendingUnitCount: 2)
        child.resignCurrent()
        child.becomeCurrent(withPendingUnitCount: 4)
        let implicit = Progress(totalUnitCount: 2)
        child.resignCurrent()
        implicit.completedUnitCount = 1
    }

    /// In a release build, no method of the child is called for the new total.
    @Test func `a change of the total in the function that creates the child is found soon`() async {
        let (queue, found) = (OperationQueue(), AsyncGate())
        let progress = queue.progress
        progress.totalUnitCount = 1
        let token = progress.observe(\.fractionCompleted, options: .new) { if $1.newValue == 0.25 { found.open() } }
        let child = Progress(totalUnitCount: 2, parent: progress, pendingUnitCount: 1)
        child.completedUnitCount = 1
        child.totalUnitCount = 4
        await found.pass()
        token.invalidate()
        withExtendedLifetime((queue, child)) {}
    }

    @Test func `the stream of a queue's progress has intermediate fractions`() async {
        let queue = OperationQueue()
        let progress = queue.progress
        progress.totalUnitCount = 1
        let child = Progress.discreteProgress(totalUnitCount: 4)
        progress.addChild(child, withPendingUnitCount: 1)
        var updates = queue.progressUpdates.makeAsyncIterator()
        #expect(await updates.next()?.fractionCompleted == 0)
        for step in 1...4 {
            child.completedUnitCount = Int64(step)
            #expect(await updates.next()?.fractionCompleted == Double(step) / 4)
        }
    }

    @Test func `changes of an inner queue and of a group are pushed through every level`() {
        let (outer, inner) = (OperationQueue(), OperationQueue())
        let log = Journal<Double>()
        outer.progress.totalUnitCount = 1
        inner.progress.totalUnitCount = 2
        outer.progress.addChild(inner.progress, withPendingUnitCount: 1)
        let token = outer.progress.observe(\.fractionCompleted, options: .new) { log.append($1.newValue!) }
        inner.addOperations([BlockOperation {}], waitUntilFinished: true)
        let child = Progress(totalUnitCount: 2, parent: inner.progress, pendingUnitCount: 1)
        child.completedUnitCount = 1
        child.completedUnitCount = 2
        #expect(log.entries == [0.5, 0.75, 1])
        token.invalidate()
    }

    @Test func `changes of a child of a subclass arrive soon, also below a plain child`() async {
        let progress = OperationQueue().progress
        progress.totalUnitCount = 2
        let (special, deeper) = (SpecialProgress.make(totalUnitCount: 2), SpecialProgress.make(totalUnitCount: 2))
        let plain = Progress.discreteProgress(totalUnitCount: 1)
        progress.addChild(special, withPendingUnitCount: 1)
        progress.addChild(plain, withPendingUnitCount: 1)
        plain.addChild(deeper, withPendingUnitCount: 1)
        var values = progress.values(for: \.fractionCompleted).makeAsyncIterator()
        #expect(await values.next() == 0)
        special.completedUnitCount = 1
        #expect(await values.next() == 0.25)
        deeper.completedUnitCount = 1
        #expect(await values.next() == 0.5)
    }

    @Test func `changes of children from before the addition are pushed`() {
        let (progress, log) = (OperationQueue().progress, Journal<Double>())
        progress.totalUnitCount = 1
        let (child, grandchild) = (Progress(totalUnitCount: 1), Progress(totalUnitCount: 1))
        let last = Progress(totalUnitCount: 2)
        child.addChild(grandchild, withPendingUnitCount: 1)
        grandchild.addChild(last, withPendingUnitCount: 1)
        progress.addChild(child, withPendingUnitCount: 1)
        let token = progress.observe(\.fractionCompleted, options: .new) { log.append($1.newValue!) }
        last.completedUnitCount = 1
        last.completedUnitCount = 2
        #expect(log.entries == [0.5, 1])
        token.invalidate()
    }

    @Test(.tags(.threads)) func `eight threads push into one progress without losses`() {
        let (queue, log) = (OperationQueue(), Journal<Double>())
        let progress = queue.progress
        progress.totalUnitCount = 8
        let token = progress.observe(\.fractionCompleted, options: .new) { log.append($1.newValue!) }
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            let child = Progress(totalUnitCount: 100, parent: progress, pendingUnitCount: 1)
            for _ in 0..<100 { child.completedUnitCount += 1 }
        }
        #expect(progress.fractionCompleted == 1 && progress.completedUnitCount == 8)
        #expect(log.entries.last == 1 && log.entries == log.entries.sorted())
        token.invalidate()
    }

    @Test func `a suspended queue stays suspended when its progress is paused and resumed`() {
        let queue = OperationQueue()
        queue.isSuspended = true
        queue.progress.resume()
        #expect(queue.isSuspended)
        queue.progress.pause()
        queue.progress.resume()
        #expect(queue.isSuspended)
        queue.isSuspended = false
        queue.progress.pause()
        #expect(queue.isSuspended)
        queue.progress.resume()
        #expect(!queue.isSuspended)
    }
}

private final class SpecialProgress: Progress, @unchecked Sendable {
    static func make(totalUnitCount: Int64) -> SpecialProgress {
        let new = SpecialProgress(parent: nil, userInfo: nil)
        new.totalUnitCount = totalUnitCount
        return new
    }
}
