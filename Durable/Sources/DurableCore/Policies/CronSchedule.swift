/// A schedule in the five fields of cron, in UTC: minute, hour, day of the month, month, day of the week.
///
/// A field is `*`, a number, a range `1-5`, a list `1,15`, or any of these with a step `*/10`. Months and days of the week
/// may be names of three letters. Sunday is 0 or 7. If both days are restricted, a time matches when either day matches.
public struct CronSchedule: Sendable, Hashable {
    /// The text of the schedule.
    public let text: String
    private let minutes: UInt64
    private let hours: UInt64
    private let days: UInt64
    private let months: UInt64
    private let weekdays: UInt64
    private let isEitherDay: Bool

    /// Creates a schedule.
    ///
    /// - Throws: `DurableError.invalidCron` with the reason. A schedule that never matches is invalid.
    public init(_ text: String) throws(DurableError) {
        let fields = text.split(whereSeparator: \.isWhitespace).map { $0.lowercased() }
        guard fields.count == 5 else {
            throw .invalidCron(text, reason: "\(fields.count) fields in place of 5")
        }
        func set(_ index: Int, _ range: ClosedRange<Int>, _ names: [String] = []) throws(DurableError) -> UInt64 {
            do { return try CronField.bits(fields[index], range, names) } catch {
                throw .invalidCron(text, reason: error.reason)
            }
        }
        self.text = text
        minutes = try set(0, 0...59)
        hours = try set(1, 0...23)
        days = try set(2, 1...31)
        months = try set(
            3, 1...12, ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"])
        let week = try set(4, 0...7, ["sun", "mon", "tue", "wed", "thu", "fri", "sat"])
        weekdays = (week | (week >> 7)) & 0x7F
        isEitherDay = !fields[2].hasPrefix("*") && !fields[4].hasPrefix("*")
        // Eight years contain each date, except after a century without a leap day.
        guard next(after: DurableInstant(microseconds: 0)) != nil else {
            throw .invalidCron(text, reason: "no date matches")
        }
    }

    /// Returns the first time after the instant that matches. Nil if no time of the next ten years matches.
    public func next(after instant: DurableInstant) -> DurableInstant? {
        // Instants begin within the year -290308, and end within the year 294247.
        let start = max(instant.microseconds, -9_200_000_000_000_000_000)
        var time = CivilTime(DurableInstant(microseconds: start).advanced(byMicroseconds: 60_000_000))
        let lastYear = min(time.year + 10, 294_000)
        while time.year <= lastYear {
            if months & (1 << UInt64(time.month)) == 0 {
                (time.day, time.hour, time.minute) = (1, 0, 0)
                time.month += 1
                if time.month == 13 { (time.month, time.year) = (1, time.year + 1) }
            } else if !matchesDay(time) {
                (time.hour, time.minute) = (0, 0)
                time = CivilTime(time.instant.advanced(byMicroseconds: 86_400_000_000))
            } else if let hour = Self.first(in: hours, from: time.hour) {
                if hour > time.hour { (time.hour, time.minute) = (hour, 0) }
                if let minute = Self.first(in: minutes, from: time.minute) {
                    time.minute = minute
                    return time.instant
                }
                time = CivilTime(CivilTime(hourOf: time).instant.advanced(byMicroseconds: 3_600_000_000))
            } else {
                (time.hour, time.minute) = (0, 0)
                time = CivilTime(time.instant.advanced(byMicroseconds: 86_400_000_000))
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
    fileprivate init(hourOf time: CivilTime) {
        self.init(year: time.year, month: time.month, day: time.day, hour: time.hour, minute: 0)
    }
}

/// The parser of one field of a schedule.
private enum CronField {
    struct Invalid: Error {
        let reason: String
    }

    /// Returns the numbers of a field as bits.
    static func bits(_ field: String, _ range: ClosedRange<Int>, _ names: [String]) throws(Invalid) -> UInt64 {
        var bits: UInt64 = 0
        for part in field.split(separator: ",", omittingEmptySubsequences: false) {
            let pieces = part.split(separator: "/", omittingEmptySubsequences: false)
            guard let first = pieces.first, pieces.count <= 2 else { throw Invalid(reason: "'\(part)' is no range") }
            var step = 1
            if pieces.count == 2 {
                guard let number = Int(pieces[1]), number > 0 else { throw Invalid(reason: "'\(part)' has no step") }
                step = number
            }
            let numbers = try bounds(String(first), range, names, isOpen: pieces.count == 2)
            for number in stride(from: numbers.lowerBound, through: numbers.upperBound, by: step) {
                bits |= 1 << UInt64(number)
            }
        }
        return bits
    }

    private static func bounds(
        _ text: String, _ range: ClosedRange<Int>, _ names: [String], isOpen: Bool
    ) throws(Invalid) -> ClosedRange<Int> {
        if text == "*" { return range }
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count <= 2, let lower = number(ends[0], range, names) else {
            throw Invalid(reason: "'\(text)' is not in \(range.lowerBound)-\(range.upperBound)")
        }
        if ends.count == 1 { return lower...(isOpen ? range.upperBound : lower) }
        guard let upper = number(ends[1], range, names), lower <= upper else {
            throw Invalid(reason: "'\(text)' is no range in \(range.lowerBound)-\(range.upperBound)")
        }
        return lower...upper
    }

    private static func number(_ text: Substring, _ range: ClosedRange<Int>, _ names: [String]) -> Int? {
        if let index = names.firstIndex(of: String(text)) { return index + range.lowerBound }
        guard let number = Int(text), range.contains(number) else { return nil }
        return number
    }
}
