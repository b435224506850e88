/// The fields of a cron schedule, as sets of numbers. They know no time zone: the times are those of a wall clock.
struct CronFields: Sendable, Hashable {
    private let seconds: UInt64
    private let minutes: UInt64
    private let hours: UInt64
    private let days: UInt64
    private let months: UInt64
    private let weekdays: UInt64
    private let isEitherDay: Bool

    struct Invalid: Error {
        let reason: String
    }

    /// - Parameter fields: Five fields, or six with the second as the first one, in lowercase.
    init(_ fields: [String]) throws(Invalid) {
        guard (5...6).contains(fields.count) else { throw Invalid(reason: "\(fields.count) fields in place of 5 or 6") }
        let rest = fields.suffix(5).map { $0 }
        seconds = fields.count == 5 ? 1 : try CronField.bits(fields[0], 0...59, [])
        minutes = try CronField.bits(rest[0], 0...59, [])
        hours = try CronField.bits(rest[1], 0...23, [])
        days = try CronField.bits(rest[2], 1...31, [])
        months = try CronField.bits(
            rest[3], 1...12, ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"])
        let week = try CronField.bits(rest[4], 0...7, ["sun", "mon", "tue", "wed", "thu", "fri", "sat"])
        weekdays = (week | (week >> 7)) & 0x7F
        isEitherDay = !rest[2].hasPrefix("*") && !rest[4].hasPrefix("*")
    }

    var isEveryHour: Bool { hours == 0xFF_FFFF }

    /// Returns the first matching second after the second, both since 1970 by the wall clock. Nil if no second of the next ten
    /// years matches.
    func next(after second: Int64) -> Int64? {
        let start = second + 1
        var (minute, rest) = (start.floorDivided(by: 60), Int(start - start.floorDivided(by: 60) * 60))
        while let match = nextMinute(from: minute) {
            if match > minute { rest = 0 }
            if let found = Self.first(in: seconds, from: rest) { return match * 60 + Int64(found) }
            (minute, rest) = (match + 1, 0)
        }
        return nil
    }

    private func nextMinute(from minute: Int64) -> Int64? {
        var time = CivilTime(minute: minute)
        let lastYear = min(time.year + 10, 294_000)
        while time.year <= lastYear {
            if months & (1 << UInt64(time.month)) == 0 {
                (time.day, time.hour, time.minute) = (1, 0, 0)
                time.month += 1
                if time.month == 13 { (time.month, time.year) = (1, time.year + 1) }
            } else if !matchesDay(time) {
                time = time.startOfNextDay
            } else if let hour = Self.first(in: hours, from: time.hour) {
                if hour > time.hour { (time.hour, time.minute) = (hour, 0) }
                if let minute = Self.first(in: minutes, from: time.minute) {
                    time.minute = minute
                    return time.minutesSinceEpoch
                }
                time.minute = 0
                time = CivilTime(minute: time.minutesSinceEpoch + 60)
            } else {
                time = time.startOfNextDay
            }
        }
        return nil
    }

    private func matchesDay(_ time: CivilTime) -> Bool {
        let (day, week) = (days & (1 << UInt64(time.day)) != 0, weekdays & (1 << UInt64(time.weekday)) != 0)
        return isEitherDay ? day || week : day && week
    }

    private static func first(in bits: UInt64, from start: Int) -> Int? {
        let rest = bits >> UInt64(start)
        return rest == 0 ? nil : start + rest.trailingZeroBitCount
    }
}

extension CivilTime {
    fileprivate var startOfNextDay: CivilTime {
        var time = self
        (time.hour, time.minute) = (0, 0)
        return CivilTime(minute: time.minutesSinceEpoch + 1_440)
    }
}
