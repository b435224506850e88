import DurableCore
import GRDB
import OperationsDurable
import Testing

@Suite struct ScheduleTests {
    @Test(arguments: StoreKind.allCases)
    func `R37: a schedule with a zone, seconds or an interval runs at its times, and is read back`(_ kind: StoreKind)
        async throws
    {
        try await withStore(kind) { test in
            let (store, queue) = (test.store, DurableQueue("q", in: test.store))
            // The clock of the test begins at 08:00:00 UTC.
            let texts = ["CRON_TZ=Asia/Kathmandu 45 13 * * *", "30 0 8 * * *", "@every 1h"]
            for text in texts { try await store.schedule(text, CronSchedule(text), Sum(a: 1, b: 0), in: queue) }
            let start = try await store.read { $0.now }
            let schedules = try await store.schedules()
            #expect(schedules.map(\.cron) == texts.sorted())
            let expected = try texts.sorted().map { try CronSchedule($0).next(after: start) }
            #expect(schedules.map(\.nextAt) == expected)
            #expect(schedules.allSatisfy { $0.last == nil && $0.overlap == .allow })
            #expect(try await store.read { try $0.rows.nextWake() } == expected.compactMap(\.self).min())
            test.advance(.seconds(10))
            #expect(try await store.commit { try $0.runSchedules() } == 0)
            test.advance(.seconds(30))
            #expect(try await store.commit { try $0.runSchedules() } == 1)
            test.advance(.seconds(3_600))
            #expect(try await store.commit { try $0.runSchedules() } == 1)
            let last = try await store.schedules().compactMap(\.last)
            #expect(try await Set(store.operations(matching: DurableFilter())) == Set(last))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `R37: a schedule that skips adds no operation while the last one has not ended`(_ kind: StoreKind) async throws
    {
        try await withStore(kind) { test in
            let (store, queue) = (test.store, DurableQueue("q", in: test.store))
            try await store.schedule(
                "skip", CronSchedule("0 * * * *"), Sum(a: 1, b: 0), in: queue, missed: .all, overlap: .skip)
            test.advance(.seconds(3 * 3_600))
            #expect(try await store.commit { try $0.runSchedules() } == 1)
            test.advance(.seconds(3_600))
            #expect(try await store.commit { try $0.runSchedules() } == 0)
            let first = try #require(try await store.schedules()[0].last)
            // A second call keeps the last operation.
            try await store.schedule("skip", CronSchedule("0 * * * *"), Sum(a: 2, b: 0), in: queue, overlap: .skip)
            test.advance(.seconds(3_600))
            #expect(try await store.commit { try $0.runSchedules() } == 0)
            _ = try await store.cancel(matching: DurableFilter())
            test.advance(.seconds(3_600))
            #expect(try await store.commit { try $0.runSchedules() } == 1)
            let second = try #require(try await store.schedules()[0].last)
            #expect(second != first)
            // An operation that the store has removed has ended.
            _ = try await store.cancel(matching: DurableFilter())
            try await store.delete(matching: DurableFilter())
            test.advance(.seconds(3_600))
            #expect(try await store.commit { try $0.runSchedules() } == 1)
        }
    }

    @Test func `R37: a worker before schema 4 neither runs nor loses a schedule that it does not understand`()
        async throws
    {
        try await withTemporaryFile { path in
            let store = try await SQLiteStore(path: path)
            let queue = DurableQueue("q", in: store)
            try await store.schedule(
                "zone", CronSchedule("0 4 * * *", timeZone: "Europe/Berlin"), Sum(a: 1, b: 0), in: queue)
            try await store.schedule("plain", CronSchedule("0 4 * * *"), Sum(a: 1, b: 0), in: queue)
            let due = try await store.transaction { database in
                try String.fetchAll(
                    database, sql: "SELECT name FROM durable_schedule WHERE next_at < 9223372036854775807")
            }
            #expect(due == ["plain"])
            // Such a process replaces the schedule, and leaves the columns that it does not know.
            try await store.transaction { database in
                try database.execute(
                    sql: "UPDATE durable_schedule SET cron = '5 4 * * *', next_at = 17 WHERE name = 'zone'")
            }
            let schedule = try #require(try await store.schedules().first { $0.id == "zone" })
            #expect(schedule.nextAt.microseconds == 17)
            #expect(try await store.commit { try $0.runSchedules() } == 1)
            #expect(try #require(try await store.schedules().first { $0.id == "zone" }).nextAt.microseconds > 17)
        }
    }
}
