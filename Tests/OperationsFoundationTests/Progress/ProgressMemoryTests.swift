import Operations
@testable import OperationsFoundation
import TestSupport
import Testing

/// Rule A10: nothing is kept for a deallocated progress. The tests run one at a time because they use the same counters. Other
/// suites have at most some hundred progresses.
@Suite(.serialized, .timeLimit(.minutes(5)), .tags(.release)) struct ProgressMemoryTests {
    @Test func `very many children leave nothing behind`() {
        let before = ProgressTree.count
        let progress = OperationQueue().progress
        let count = Stress.rounds(20_000, least: 2_000)
        progress.totalUnitCount = Int64(count)
        for _ in 0..<count {
            let child = Progress(totalUnitCount: 1, parent: progress, pendingUnitCount: 1)
            child.completedUnitCount = 1
        }
        #expect(progress.completedUnitCount == Int64(count))
        #expect(ProgressTree.count <= before + 1000)
    }

    @Test func `one of very many children costs its siblings nothing`() {
        let progress = OperationQueue().progress
        let count = Stress.rounds(10_000, least: 1_000)
        progress.totalUnitCount = Int64(count)
        let children = (0..<count).map { _ in Progress(totalUnitCount: 2, parent: progress, pendingUnitCount: 1) }
        for child in children { child.completedUnitCount = 1 }
        #expect(progress.fractionCompleted == 0.5)
        for child in children { child.completedUnitCount = 2 }
        #expect(progress.completedUnitCount == Int64(count))
    }

    @Test func `very many observed progresses leave nothing behind`() {
        let before = ProgressTree.count
        for _ in 0..<Stress.rounds(20_000, least: 2_000) {
            let progress = Progress(totalUnitCount: 1)
            let token = progress.observe(\.fractionCompleted) { _, _ in }
            withExtendedLifetime(token) { progress.completedUnitCount = 1 }
        }
        #expect(ProgressTree.count <= before + 1000)
    }
}
