/// The times of a schedule: the fields of cron, or an interval.
///
/// - `0 4 * * mon-fri`: the five fields of cron: minute, hour, day of the month, month, day of the week. A field is `*`, a number,
///   a range `1-5`, a list `1,15`, or any of these with a step `*/10`. Months and days of the week may be names of three letters.
///   Sunday is 0 or 7. If both days are restricted, a time matches when either day matches.
/// - `30 0 4 * * *`: six fields: the second is the first one.
/// - `@hourly`, `@daily` or `@midnight`, `@weekly`, `@monthly`, `@yearly` or `@annually`.
/// - `@every 1h30m`: an interval of days `d`, hours `h`, minutes `m` and seconds `s`. Its times are the multiples of the interval
///   since 1970 in UTC, so that all machines agree.
/// - `CRON_TZ=Europe/Berlin 0 4 * * *`: any form but an interval, by the wall clock of a time zone. Without it, the zone is UTC.
///
/// When the clock of the zone is put forward, a time that does not exist is replaced by the first instant after the gap. When the
/// clock is put back, a time that exists twice counts once. In a schedule of every hour, such as `*/10 * * * *`, a time that does
/// not exist is left out, and a time that exists twice counts twice.
public struct CronSchedule: Sendable, Hashable {
    private enum Times: Sendable, Hashable {
        /// Microseconds.
        case interval(Int64)
        case fields(CronFields, ZoneOffsets?)
    }

    /// The text of the schedule, with the time zone.
    public let text: String
    private let times: Times
    /// Whether versions of the library before schema 4 understand the text.
    package let isPlain: Bool

    /// Creates a schedule.
    ///
    /// - Parameters:
    ///   - text: The times, in one of the forms above.
    ///   - timeZone: The identifier of a time zone, such as `Europe/Berlin`; nil for UTC or the zone in the text.
    /// - Throws: `DurableError.invalidCron` with the reason. A schedule that never matches is invalid.
    public init(_ text: String, timeZone: String? = nil) throws(DurableError) {
        if let timeZone, timeZone.contains(where: \.isWhitespace) {
            throw .invalidCron(text, reason: "no time zone is named '\(timeZone)'")
        }
        let text = timeZone.map { "CRON_TZ=\($0) \(text)" } ?? text
        self.text = text
        do {
            let (times, isPlain) = try Self.parse(text)
            (self.times, self.isPlain) = (times, isPlain)
        } catch { throw .invalidCron(text, reason: error.reason) }
        // Eight years contain each date, except after a century without a leap day.
        guard next(after: DurableInstant(microseconds: 0)) != nil else {
            throw .invalidCron(text, reason: "no date matches")
        }
    }

    /// Returns the schedule of an interval. Its times are the multiples of the interval since 1970 in UTC.
    ///
    /// - Parameter interval: A whole number of seconds, at least 1.
    /// - Throws: `DurableError.invalidCron`.
    public static func every(_ interval: Duration) throws(DurableError) -> CronSchedule {
        // Before the conversion, which stops the process for a duration beyond its range.
        guard interval >= .seconds(1), interval <= .seconds(Self.longestInterval), interval.components.attoseconds == 0
        else {
            throw .invalidCron(
                "@every \(interval)", reason: "an interval is a whole number of seconds, from 1 to a hundred years")
        }
        return try CronSchedule("@every \(interval.components.seconds)s")
    }

    /// A hundred years, in seconds. More could exceed the range of instants.
    private static let longestInterval: Int64 = 3_155_760_000

    private static func parse(_ text: String) throws(CronFields.Invalid) -> (Times, isPlain: Bool) {
        var words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        var zone: ZoneOffsets?
        if let first = words.first, first.hasPrefix("CRON_TZ=") {
            let name = String(first.dropFirst(8))
            guard let found = ZoneOffsets(name) else {
                throw CronFields.Invalid(reason: "no time zone is named '\(name)'")
            }
            zone = found
            words.removeFirst()
        }
        words = words.map { $0.lowercased() }
        if words.first == "@every" {
            guard zone == nil else { throw CronFields.Invalid(reason: "an interval has no time zone") }
            return (.interval(try interval(words.dropFirst().joined())), false)
        }
        let isPlain = zone == nil && words.count == 5
        if words.count == 1, let fields = nicknames[words[0]] { words = fields.split(separator: " ").map(String.init) }
        return (.fields(try CronFields(words), zone), isPlain)
    }

    private static let nicknames = [
        "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
        "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
    ]

    /// Returns the microseconds of a text such as `1h30m`.
    private static func interval(_ text: String) throws(CronFields.Invalid) -> Int64 {
        let units: [Character: Int64] = ["d": 86_400, "h": 3_600, "m": 60, "s": 1]
        var (total, digits) = (Int64(0), "")
        for character in text {
            if ("0"..."9").contains(character) {
                digits.append(character)
                continue
            }
            guard let unit = units[character], let count = Int64(digits) else {
                throw CronFields.Invalid(reason: "'\(text)' is no interval such as 1h30m")
            }
            let (seconds, isTooLong) = count.multipliedReportingOverflow(by: unit)
            guard !isTooLong, seconds <= longestInterval - total else {
                throw CronFields.Invalid(reason: "the interval is longer than a hundred years")
            }
            (total, digits) = (total + seconds, "")
        }
        guard digits.isEmpty, total > 0 else {
            throw CronFields.Invalid(reason: "'\(text)' is no interval of at least a second, such as 1h30m")
        }
        return total * 1_000_000
    }

    /// Returns the first time after the instant that matches. Nil if no time matches within ten years, or within the
    /// range of instants.
    public func next(after instant: DurableInstant) -> DurableInstant? {
        switch times {
        case .interval(let interval):
            let (next, isPast) = (instant.microseconds.floorDivided(by: interval) + 1).multipliedReportingOverflow(
                by: interval)
            return isPast ? nil : DurableInstant(microseconds: next)
        case .fields(let fields, let zone):
            // Instants begin within the year -290308, and end within the year 294247. Zones change times by a day at most.
            let start = max(instant.microseconds, -9_200_000_000_000_000_000).floorDivided(by: 1_000_000)
            let next = zone.map { $0.next(of: fields, after: start) } ?? fields.next(after: start)
            return next.map { DurableInstant(microseconds: $0 * 1_000_000) }
        }
    }
}
