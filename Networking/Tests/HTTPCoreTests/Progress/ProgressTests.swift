import HTTPCore
import TestSupport
import Testing

@Suite struct ProgressTests {
    @Test(
        arguments: [
            (0, 10, 0), (5, 10, 0.5), (10, 10, 1), (11, 10, 1), (-1, 10, 0), (0, 0, 1), (5, nil, nil), (5, -1, nil),
            (.max, .max, 1),
        ] as [(Int64, Int64?, Double?)])
    func `the fraction is between 0 and 1, or unknown`(total: Int64, expected: Int64?, fraction: Double?) {
        #expect(TransferProgress(new: 0, total: total, expected: expected).fraction == fraction)
    }

    @Test func `without a step all new bytes are reported, and no bytes twice`() {
        var filter = ProgressFilter()
        let reports = [0, 0, 1, 5, 5, 10, 10].map { filter.report(total: $0, expected: 10) }
        #expect(reports.map { $0?.new } == [0, nil, 1, 4, nil, 5, nil])
    }

    @Test func `a step delays smaller reports, but never the last report`() {
        var filter = ProgressFilter(minimumStep: 0.25)
        let reports = [1, 20, 26, 30, 50, 51, 99, 100, 101].map { filter.report(total: $0, expected: 100) }
        #expect(reports.map { $0?.total } == [1, nil, 26, nil, nil, 51, 99, 100, nil])
        #expect(reports.compactMap { $0?.new }.reduce(0, +) == 100)
    }

    @Test func `for an unknown length the step is in bytes, and the rest is reported at the end`() {
        var filter = ProgressFilter(minimumStep: 0.5, minimumBytes: 10)
        #expect([1, 5, 11, 20, 21].map { filter.report(total: $0, expected: nil)?.new } == [1, nil, 10, nil, 10])
        #expect(filter.report(total: 25, expected: nil) == nil)
        #expect(filter.finish(total: 25) == TransferProgress(new: 4, total: 25, expected: 25))
        #expect(filter.finish(total: 25) == nil)
    }

    @Test func `a restart and a new length are reported immediately`() {
        var filter = ProgressFilter(minimumStep: 0.5)
        #expect(filter.report(total: 60, expected: 100)?.new == 60)
        #expect(filter.report(total: 10, expected: 100) == TransferProgress(new: 10, total: 10, expected: 100))
        #expect(filter.report(total: 11, expected: 200) == TransferProgress(new: 1, total: 11, expected: 200))
        #expect(filter.report(total: 11, expected: nil) == TransferProgress(new: 0, total: 11, expected: nil))
    }

    @Test(arguments: 0..<50 as Range<UInt64>) func `the reports add up to the total`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var filter = ProgressFilter(minimumStep: Double(random.below(100)) / 100, minimumBytes: Int64(random.below(50)))
        let expected: Int64? = random.chance(50) ? 1000 : nil
        var (total, sum): (Int64, Int64) = (0, 0)
        while total < 1000 {
            total = min(total + Int64(random.below(60)), 1000)
            sum += filter.report(total: total, expected: expected)?.new ?? 0
        }
        sum += filter.finish(total: total)?.new ?? 0
        #expect(sum == 1000)
    }
}
