import OperationsFoundation
import TestSupport
import Testing

@Suite struct ProgressChildrenTests {
    @Test func `a progress created in main contributes a fraction of the unit`() {
        let queue = OperationQueue()
        queue.progress.totalUnitCount = 2
        queue.addOperation {
            let child = Progress(totalUnitCount: 4)
            #expect(queue.progress.fractionCompleted == 0)
            child.completedUnitCount = 1
            #expect(queue.progress.fractionCompleted == 0.125)
            child.completedUnitCount = 3
            #expect(queue.progress.fractionCompleted == 0.375)
            #expect(queue.progress.completedUnitCount == 0)
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(queue.progress.completedUnitCount == 1)
        #expect(queue.progress.fractionCompleted == 0.5)
    }

    @Test func `a progress whose parent is the current progress contributes`() {
        let queue = OperationQueue()
        queue.progress.totalUnitCount = 1
        queue.addOperation {
            let child = Progress(parent: .current(), userInfo: nil)
            child.totalUnitCount = 2
            child.completedUnitCount = 1
            #expect(queue.progress.fractionCompleted == 0.5)
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(queue.progress.fractionCompleted == 1)
    }

    @Test func `grandchildren and several children contribute by their shares`() {
        let queue = OperationQueue()
        queue.progress.totalUnitCount = 1
        queue.addOperation {
            let current = Progress.current()!
            current.totalUnitCount = 4
            let large = Progress(totalUnitCount: 2, parent: current, pendingUnitCount: 3)
            let small = Progress(totalUnitCount: 10, parent: current, pendingUnitCount: 1)
            let part = Progress(totalUnitCount: 2, parent: large, pendingUnitCount: 2)
            part.completedUnitCount = 1
            #expect(queue.progress.fractionCompleted == 0.375)
            small.completedUnitCount = 10
            #expect(queue.progress.fractionCompleted == 0.625)
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(queue.progress.completedUnitCount == 1)
    }

    @Test func `a finished child completes the unit only after main has returned`() {
        let queue = OperationQueue()
        queue.progress.totalUnitCount = 1
        queue.addOperation {
            Progress(totalUnitCount: 1).completedUnitCount = 1
            #expect(queue.progress.completedUnitCount == 0)
            #expect(queue.progress.fractionCompleted > 0.999)
            #expect(!queue.progress.isFinished)
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(queue.progress.completedUnitCount == 1)
        #expect(queue.progress.fractionCompleted == 1)
    }

    @Test(.tags(.threads)) func `children of eight parallel operations add up`() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 8
        queue.progress.totalUnitCount = 8
        let halfway = Gate()
        let arrived = DispatchGroup()
        for _ in 0..<8 {
            arrived.enter()
            queue.addOperation {
                let child = Progress(totalUnitCount: 1000)
                for unit in 1...500 { child.completedUnitCount = Int64(unit) }
                arrived.leave()
                halfway.pass()
                for unit in 501...1000 { child.completedUnitCount = Int64(unit) }
            }
        }
        arrived.wait()
        #expect(queue.progress.fractionCompleted == 0.5)
        #expect(queue.progress.completedUnitCount == 0)
        halfway.open()
        queue.waitUntilAllOperationsAreFinished()
        #expect(queue.progress.completedUnitCount == 8)
        #expect(queue.progress.fractionCompleted == 1)
    }

    @Test(.tags(.threads)) func `very many operations with children count exactly during continuous reads`() {
        let count = Stress.rounds(10_000, least: 1_500)
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 8
        queue.progress.totalUnitCount = Int64(count)
        for _ in 0..<count {
            queue.addOperation {
                let child = Progress(totalUnitCount: 3)
                for unit in 1...3 { child.completedUnitCount = Int64(unit) }
            }
        }
        while queue.progress.completedUnitCount < Int64(count) {
            #expect((0...1).contains(queue.progress.fractionCompleted))
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(queue.progress.completedUnitCount == Int64(count))
        #expect(queue.progress.fractionCompleted == 1)
    }

    @Test func `an unfinished child does not delay the unit`() {
        let queue = OperationQueue()
        queue.progress.totalUnitCount = 1
        let kept = Journal<Progress>()
        queue.addOperation { kept.append(Progress(totalUnitCount: 7)) }
        queue.waitUntilAllOperationsAreFinished()
        #expect(queue.progress.fractionCompleted == 1)
        kept.entries[0].completedUnitCount = 3
        #expect(queue.progress.completedUnitCount == 1)
    }
}
