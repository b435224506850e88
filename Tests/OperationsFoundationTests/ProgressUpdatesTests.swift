import OperationsFoundation
import Testing

@Suite struct ProgressUpdatesTests {
    @Test func `the states begin with the present state, never decrease, and end with the complete state`() async {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 8
        queue.progress.totalUnitCount = 1000
        var last = -1.0
        for await update in queue.progressUpdates {
            if last < 0 {
                #expect(update.completedUnitCount == 0 && update.totalUnitCount == 1000)
                for _ in 0..<1000 { queue.addOperation {} }
            }
            #expect(update.fractionCompleted > last)
            #expect(update.fractionCompleted == Double(update.completedUnitCount) / 1000)
            last = update.fractionCompleted
            if last == 1 { break }
        }
        #expect(last == 1)
    }

    @Test func `the states end when the queue is deallocated`() async {
        var queue: OperationQueue? = OperationQueue()
        var others = queue!.progressUpdates.makeAsyncIterator()
        #expect(await others.next()?.totalUnitCount == 0)
        queue = nil
        #expect(await others.next() == nil)
    }

    @Test func `a reader that is slower than the queue's last operations receives the last state`() async {
        var queue: OperationQueue? = OperationQueue()
        queue!.progress.totalUnitCount = 2
        var updates = queue!.progressUpdates.makeAsyncIterator()
        #expect(await updates.next()?.completedUnitCount == 0)
        for _ in 0..<2 { queue!.addOperation {} }
        await queue!.waitUntilAllOperationsAreFinished()
        queue = nil
        let last = await updates.next()
        #expect(last?.fractionCompleted == 1 && last?.completedUnitCount == 2)
        #expect(await updates.next() == nil)
    }

    @Test func `the fraction of a state is at most 1, also when more operations finish than the total`() async {
        let queue = OperationQueue()
        queue.progress.totalUnitCount = 1
        for _ in 0..<3 { queue.addOperation {} }
        await queue.waitUntilAllOperationsAreFinished()
        for await update in queue.progressUpdates {
            #expect(update.fractionCompleted == 1 && update.completedUnitCount == 3)
            break
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `the states end when the queue is deallocated while the program holds its progress`() async {
        var queue: OperationQueue? = OperationQueue()
        let (held, whole) = (queue!.progress, Progress(totalUnitCount: 1))
        held.totalUnitCount = 3
        whole.addChild(held, withPendingUnitCount: 1)
        var updates = queue!.progressUpdates.makeAsyncIterator()
        #expect(await updates.next()?.totalUnitCount == 3)
        let later = queue!.progressUpdates
        queue = nil
        #expect(await updates.next() == nil)
        for await _ in later { Issue.record("a state of a queue that is gone") }
        withExtendedLifetime((held, whole)) {}
    }

    @Test func `a change of the total produces a state`() async {
        let queue = OperationQueue()
        var updates = queue.progressUpdates.makeAsyncIterator()
        #expect(await updates.next()?.totalUnitCount == 0)
        queue.progress.totalUnitCount = 5
        #expect(await updates.next()?.totalUnitCount == 5)
    }

    @Test func `cancelling the task ends the states`() async {
        let queue = OperationQueue()
        let task = Task {
            for await _ in queue.progressUpdates {}
            return true
        }
        task.cancel()
        #expect(await task.value)
    }
}
