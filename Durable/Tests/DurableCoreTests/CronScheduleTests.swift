import DurableCore
import DurableTesting
import Foundation
import Testing

@Suite struct CronScheduleTests {
    private func next(_ text: String, after time: String) throws -> String {
        try CronSchedule(text).next(after: instant(time))?.description ?? "never"
    }

    private func instant(_ text: String) throws -> DurableInstant {
        let date = try Date(text.replacing(" ", with: "T") + "Z", strategy: .iso8601)
        return DurableInstant(microseconds: Int64(date.timeIntervalSince1970) * 1_000_000)
    }

    @Test func `R37: a sixth field is the second`() throws {
        #expect(try next("30 * * * * *", after: "2026-11-25 19:00:00") == "2026-11-25 19:00:30 UTC")
        #expect(try next("30 * * * * *", after: "2026-11-25 19:00:30") == "2026-11-25 19:01:30 UTC")
        #expect(try next("*/20 59 23 31 12 *", after: "2026-12-31 23:59:40") == "2027-12-31 23:59:00 UTC")
        #expect(try next("* * * * * *", after: "2026-12-31 23:59:59") == "2027-01-01 00:00:00 UTC")
        #expect(
            try CronSchedule("* * * * *").next(after: instant("2026-11-25 19:00:00") + .milliseconds(1))
                == instant("2026-11-25 19:01:00"))
    }

    @Test func `R37: an interval has its times at multiples since 1970`() throws {
        #expect(try next("@every 90s", after: "1970-01-01 00:00:00") == "1970-01-01 00:01:30 UTC")
        #expect(try next("@every 1d 2h 3m 4s", after: "1970-01-01 00:00:00") == "1970-01-02 02:03:04 UTC")
        #expect(try next("@every 6h", after: "2026-11-25 18:00:00") == "2026-11-26 00:00:00 UTC")
        #expect(try CronSchedule.every(.seconds(21_600)) == CronSchedule("@every 21600s"))
        #expect(try CronSchedule("@every 7s").next(after: DurableInstant(microseconds: -1))?.microseconds == 0)
        #expect(try CronSchedule("@every 36525d").next(after: DurableInstant(microseconds: .max)) == nil)
        for interval in [
            Duration.zero, .seconds(-1), .milliseconds(1_500), .seconds(Int64.max), .seconds(Int64.max) * 2,
        ] {
            #expect(throws: DurableError.self) { try CronSchedule.every(interval) }
        }
    }

    @Test func `R37: nicknames stand for the fields of cron`() throws {
        #expect(try next("@hourly", after: "2026-11-25 18:10:00") == "2026-11-25 19:00:00 UTC")
        #expect(try next("@weekly", after: "2026-11-25 18:10:00") == "2026-11-29 00:00:00 UTC")
        #expect(try next("@annually", after: "2026-11-25 18:10:00") == "2027-01-01 00:00:00 UTC")
    }

    @Test(arguments: [
        "@every", "@every 0s", "@every 5", "@every s", "@every 1h -1m", "@every 1.5h", "@every 1️⃣s",
        "@every 9223372036854775807d",
        "@every 36526d", "CRON_TZ=Europe/Berlin @every 1h", "CRON_TZ=Europe/Berlin", "CRON_TZ= * * * * *",
        "CRON_TZ=Europe/Atlantis * * * * *", "CRON_TZ=../../../etc/passwd * * * * *", "* * * * * CRON_TZ=UTC",
        "60 * * * * *", "0 22-2 * * *", "@every 1y",
    ])
    func `R37: an invalid schedule is refused`(_ text: String) {
        #expect(throws: DurableError.self) { try CronSchedule(text) }
    }

    @Test(arguments: [
        ("0 0 1-7 * 1", ["06-01", "06-02", "06-03", "06-04", "06-05", "06-06", "06-07", "06-08", "06-15"]),
        ("0 0 */2 * 1", ["06-01", "06-15", "06-29"]),
        ("0 5 10 * * *", ["05-31 10:05", "06-01 10:05"]),
        ("5/15 * * * *", ["05-31 00:05", "05-31 00:20", "05-31 00:35", "05-31 00:50", "05-31 01:05"]),
        ("0 22-23,0-2 * * *", ["05-31 01:00", "05-31 02:00", "05-31 22:00"]),
    ])
    func `R37: a text that other readers of cron understand differently has the times of the table`(
        text: String, times: [String]
    ) throws {
        var time = "2026-05-31 00:00:00"
        for expected in times {
            time = String(try next(text, after: time).prefix(19))
            #expect(time.hasPrefix("2026-" + expected))
        }
    }

    @Test func `R37: a time in the gap of the clock is replaced by the end of the gap`() throws {
        // On March 28, 2027, at 01:00 UTC, the clock of Berlin goes from 02:00 to 03:00.
        let text = "CRON_TZ=Europe/Berlin 30 2 * * *"
        #expect(try next(text, after: "2027-03-27 00:00:00") == "2027-03-27 01:30:00 UTC")
        #expect(try next(text, after: "2027-03-27 01:30:00") == "2027-03-28 01:00:00 UTC")
        #expect(try next(text, after: "2027-03-28 01:00:00") == "2027-03-29 00:30:00 UTC")
        // Many times in the gap, and its end itself, are one time.
        let many = "CRON_TZ=Europe/Berlin */10 2,3 * * *"
        #expect(try next(many, after: "2027-03-28 00:59:00") == "2027-03-28 01:00:00 UTC")
        #expect(try next(many, after: "2027-03-28 01:00:00") == "2027-03-28 01:10:00 UTC")
    }

    @Test func `R37: a time that exists twice counts once`() throws {
        // On October 31, 2027, at 01:00 UTC, the clock of Berlin goes from 03:00 to 02:00.
        let text = "CRON_TZ=Europe/Berlin 30 2 * * *"
        #expect(try next(text, after: "2027-10-31 00:00:00") == "2027-10-31 00:30:00 UTC")
        #expect(try next(text, after: "2027-10-31 00:30:00") == "2027-11-01 01:30:00 UTC")
        #expect(try next(text, after: "2027-10-31 01:10:00") == "2027-11-01 01:30:00 UTC")
    }

    @Test func `R37: a schedule of every hour counts elapsed time`() throws {
        let text = "CRON_TZ=Europe/Berlin 30 * * * *"
        #expect(try next(text, after: "2027-03-28 00:30:00") == "2027-03-28 01:30:00 UTC")
        for hour in 0..<4 {
            #expect(try next(text, after: "2027-10-31 0\(hour):30:00") == "2027-10-31 0\(hour + 1):30:00 UTC")
        }
        // The next January is behind two changes.
        #expect(try next("CRON_TZ=Europe/Berlin 0 * 1 1 *", after: "2027-01-02 00:00:00") == "2027-12-31 23:00:00 UTC")
        #expect(try next("CRON_TZ=Europe/Berlin 0 * 1 7 *", after: "2027-01-02 00:00:00") == "2027-06-30 22:00:00 UTC")
        // The clock is put back within the last hours that match for a long time.
        #expect(try next("CRON_TZ=Africa/Cairo 30 * * 10 *", after: "2024-10-31 20:30:00") == "2024-10-31 21:30:00 UTC")
        #expect(
            try next("CRON_TZ=America/Santiago 30 * 1 4 *", after: "2028-04-02 02:30:00") == "2028-04-02 03:30:00 UTC")
    }

    @Test func `R37: the text has the zone of the parameter, and is equal to a text with the zone`() throws {
        let schedule = try CronSchedule("0 4 * * mon", timeZone: "America/New_York")
        #expect(schedule.text == "CRON_TZ=America/New_York 0 4 * * mon")
        #expect(try schedule == CronSchedule("CRON_TZ=America/New_York 0 4 * * mon"))
        #expect(throws: DurableError.self) { try CronSchedule("4 * * *", timeZone: "UTC 0") }
        #expect(throws: DurableError.self) { try CronSchedule("CRON_TZ=UTC 0 4 * * mon", timeZone: "UTC") }
        #expect(
            try CronSchedule("0 4 * * *", timeZone: "UTC").next(after: instant("2026-11-25 19:00:00"))
                == instant("2026-11-26 04:00:00"))
    }

    /// Lord Howe changes by half an hour, Apia had no December 30 in 2011, and Kathmandu has an offset of 5:45.
    @Test(arguments: [
        ("Europe/Berlin", "2027-03-27 00:00:00"), ("Europe/Berlin", "2027-10-30 00:00:00"),
        ("America/New_York", "2026-10-31 00:00:00"), ("America/New_York", "2027-03-13 00:00:00"),
        ("Australia/Lord_Howe", "2027-04-03 00:00:00"), ("Australia/Lord_Howe", "2027-10-02 00:00:00"),
        ("Pacific/Apia", "2011-12-29 00:00:00"), ("Asia/Kathmandu", "2027-01-01 00:00:00"),
        ("UTC", "2027-01-01 00:00:00"),
    ])
    func `R37: next times agree with a search of all minutes`(_ name: String, _ time: String) throws {
        let zone = try #require(TimeZone(identifier: name))
        let start = Int64(try instant(time).microseconds / 60_000_000)
        let locals = (start...start + 4 * 1_440).map { minute in
            minute + Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(minute * 60))) / 60)
        }
        var random = RandomProgram.Numbers(state: UInt64(bitPattern: start))
        for _ in 0..<40 {
            let (minutes, hours) = (random.set(below: 60), random.bool() ? nil : random.set(below: 24))
            let days = random.bool() ? nil : random.set(below: 7)
            func matches(_ local: Int64) -> Bool {
                let hour = Int(local / 60 % 24)
                let weekday = Int((local / 1_440 + 4) % 7)
                return minutes.contains(Int(local % 60)) && hours?.contains(hour) != false
                    && days?.contains(weekday) != false
            }
            func field(_ set: Set<Int>?) -> String {
                set.map { $0.sorted().map(String.init).joined(separator: ",") } ?? "*"
            }
            let text = "\(field(minutes)) \(field(hours)) * * \(field(days))"
            let schedule = try CronSchedule(text, timeZone: name)
            var (expected, latest) = ([Int64](), locals[0])
            for (now, minute) in zip(locals, start...).dropFirst() {
                let isMatch =
                    if hours == nil { matches(now) } else {
                        now > latest && (latest + 1...now).contains { matches($0) && ($0 == now || now - latest > 1) }
                    }
                if isMatch { expected.append(minute) }
                latest = max(latest, now)
            }
            var found: [Int64] = []
            var last = DurableInstant(microseconds: start * 60_000_000)
            while let next = schedule.next(after: last), next.microseconds <= (start + 4 * 1_440) * 60_000_000 {
                found.append(next.microseconds / 60_000_000)
                last = next
            }
            #expect(found == expected, "\(text) in \(name)")
        }
    }
}

extension RandomProgram.Numbers {
    fileprivate mutating func bool() -> Bool { Bool.random(using: &self) }

    fileprivate mutating func set(below limit: Int) -> Set<Int> {
        let count = Int.random(in: 1...3, using: &self)
        return Set((0..<count).map { _ in Int.random(in: 0..<limit, using: &self) })
    }
}
