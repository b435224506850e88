import DurableCore
import Testing

@testable import OperationsDurable

@Suite struct WorkerRhythmTests {
    private var rhythm = WorkerRhythm()

    private mutating func reply(
        _ time: Duration = .milliseconds(1), hasClaims: Bool = false, isExpired: Bool = false
    ) -> WorkerRhythm.Reaction {
        rhythm.reaction(to: .reply(time: time, hasClaims: hasClaims, isExpired: isExpired, rest: .seconds(2)))
    }

    private mutating func failure(
        _ error: DurableError = .unavailable("away"), isPastGrace: Bool = false
    ) -> WorkerRhythm.Reaction {
        rhythm.reaction(to: .failure(error, isPastGrace: isPastGrace))
    }

    @Test mutating func `a worker waits after a reply until something is due`() {
        let reaction = reply()
        #expect(reaction.wait == .seconds(2) && reaction.reports.isEmpty)
    }

    @Test mutating func `a worker reports a database that is away once, and its return once`() {
        var reports: [WorkerRhythm.Report] = []
        for _ in 0..<3 { reports += failure().reports }
        for _ in 0..<3 { reports += reply().reports }
        reports += failure().reports
        #expect(reports == [.databaseAway, .databaseReturned, .databaseAway])
    }

    @Test mutating func `the waits for a database that is away double up to one second, and begin again after a reply`()
    {
        let waits = (0..<8).map { _ in failure().wait }
        #expect(waits == [20, 40, 80, 160, 320, 640, 1_000, 1_000].map { .milliseconds($0) })
        _ = reply()
        #expect(failure().wait == .milliseconds(20))
    }

    @Test mutating func `a worker waits for the ends of attempts only after an exchange that started attempts`() {
        #expect(rhythm.linger == .zero)
        _ = reply(.microseconds(400), hasClaims: true)
        #expect(rhythm.linger == .microseconds(100))
        _ = reply(.seconds(1), hasClaims: true)
        #expect(rhythm.linger == .microseconds(500))
        _ = reply()
        #expect(rhythm.linger == .zero)
    }

    @Test mutating func `a worker whose leases have expired registers again`() {
        let reaction = reply(isExpired: true)
        guard case .register = reaction.act else { return #expect(Bool(false), "\(reaction)") }
        #expect(reaction.reports == [.leasesExpired])
    }

    @Test mutating func `a worker that has waited for the database during its grace time leaves`() {
        _ = failure()
        let reaction = failure(isPastGrace: true)
        guard case .leave = reaction.act else { return #expect(Bool(false), "\(reaction)") }
        #expect(reaction.reports == [.stopWithoutDatabase])
    }

    @Test mutating func `a worker ends when a newer program has excluded it, and not after other errors`() {
        let reaction = failure(.newerSchema(found: 9, supported: 5), isPastGrace: true)
        guard case .end = reaction.act else { return #expect(Bool(false), "\(reaction)") }
        #expect(reaction.reports.isEmpty)
        #expect(failure(.noSchema).wait != nil)
    }
}

extension WorkerRhythm.Reaction {
    fileprivate var wait: Duration? { if case .wait(let time) = act { time } else { nil } }
}
