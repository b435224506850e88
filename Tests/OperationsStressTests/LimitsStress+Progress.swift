#if canImport(Glibc)
import OperationsFoundation
import Testing

extension LimitsStress {
    @Test func `children of a progress that have ended leave nothing`() async {
        await #expect(processExitsWith: .success) {
            let queue = OperationQueue()
            let progress = queue.progress
            await Limits.expectNothingLeft(Limits.count(debug: 20_000, least: 2_000)) { count in
                progress.totalUnitCount += Int64(2 * count)
                for number in 0..<count {
                    let child = Progress(totalUnitCount: 1, parent: progress, pendingUnitCount: 1)
                    child.completedUnitCount = 1
                    await queue.add(BlockOperation {}, number: number)
                }
                await queue.waitUntilAllOperationsAreFinished()
            }
        }
    }
}
#endif
