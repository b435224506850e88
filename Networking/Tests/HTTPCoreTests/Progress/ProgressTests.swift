import HTTPCore
import TestSupport
import Testing

@Suite struct ProgressTests {
    @Test(
        arguments: [
            (0, 10, 0), (5, 10, 0.5), (10, 10, 1), (11, 10, 1), (-1, 10, 0), (0, 0, 1), (5, nil, nil), (5, -1, nil),
            (.max, .max, 1),
        ] as [(Int64, Int64?, Double?)])
    func `the fraction is between 0 and 1, or unknown`(completed: Int64, total: Int64?, fraction: Double?) {
        #expect(TransferProgress(completedBytes: completed, totalBytes: total).fraction == fraction)
    }

    @Test func `without a step all new bytes are reported, and no bytes twice`() {
        var filter = ProgressFilter()
        let reports = [0, 0, 1, 5, 5, 10, 10].map { filter.report(completed: $0, total: 10) }
        #expect(reports.map { $0?.newBytes } == [0, nil, 1, 4, nil, 5, nil])
    }

    @Test func `a step delays smaller reports, but never the last report`() {
        var filter = ProgressFilter(minimumStep: 0.25)
        let reports = [1, 20, 26, 30, 50, 51, 99, 100, 101].map { filter.report(completed: $0, total: 100) }
        #expect(reports.map { $0?.completedBytes } == [1, nil, 26, nil, nil, 51, 99, 100, nil])
        #expect(reports.compactMap { $0?.newBytes }.reduce(0, +) == 100)
    }

    @Test func `for an unknown length the step is in bytes, and a length that becomes known is reported`() {
        var filter = ProgressFilter(minimumStep: 0.5, minimumBytes: 10)
        let reports = [1, 5, 11, 20, 21].map { filter.report(completed: $0, total: nil) }
        #expect(reports.map { $0?.newBytes } == [1, nil, 10, nil, 10])
        #expect(filter.report(completed: 25, total: nil) == nil)
        let last = filter.report(completed: 25, total: 25)
        #expect(last == TransferProgress(newBytes: 4, completedBytes: 25, totalBytes: 25))
        #expect(filter.report(completed: 25, total: 25) == nil)
    }

    @Test func `a restart and a new length are reported immediately`() {
        var filter = ProgressFilter(minimumStep: 0.5)
        #expect(filter.report(completed: 60, total: 100)?.newBytes == 60)
        let reports = [(10, 100), (11, 200), (11, nil)].map { filter.report(completed: $0, total: $1) }
        #expect(reports.map { $0?.newBytes } == [10, 1, 0])
        #expect(reports.map { $0?.completedBytes } == [10, 11, 11])
        #expect(reports.map { $0?.totalBytes } == [100, 200, nil])
    }

    @Test(arguments: 0..<50 as Range<UInt64>) func `the reports add up to the total`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var filter = ProgressFilter(minimumStep: Double(random.below(100)) / 100, minimumBytes: Int64(random.below(50)))
        let isKnown = random.chance(50)
        var (completed, sum): (Int64, Int64) = (0, 0)
        while completed < 1000 {
            completed = min(completed + Int64(random.below(60)), 1000)
            sum += filter.report(completed: completed, total: isKnown ? 1000 : nil)?.newBytes ?? 0
        }
        sum += filter.report(completed: 1000, total: 1000)?.newBytes ?? 0
        #expect(sum == 1000)
    }
}
