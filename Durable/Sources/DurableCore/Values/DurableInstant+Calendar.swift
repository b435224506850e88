/// A point of the proleptic Gregorian calendar, in UTC, with a resolution of one minute.
package struct CivilTime: Sendable, Hashable {
    package var year: Int64
    /// The month, 1 to 12.
    package var month: Int
    /// The day of the month, from 1.
    package var day: Int
    package var hour: Int
    package var minute: Int

    package init(year: Int64, month: Int, day: Int, hour: Int, minute: Int) {
        (self.year, self.month, self.day, self.hour, self.minute) = (year, month, day, hour, minute)
    }

    /// Creates the calendar time of an instant. Seconds are discarded.
    package init(_ instant: DurableInstant) { self.init(minute: instant.microseconds.floorDivided(by: 60_000_000)) }

    /// - Parameter minutes: The minutes since 1970.
    init(minute minutes: Int64) {
        let (days, rest) = (minutes.floorDivided(by: 1_440), Int(minutes - minutes.floorDivided(by: 1_440) * 1_440))
        (hour, minute) = (rest / 60, rest % 60)
        // Days from March 1 of year 0, in eras of 400 years.
        let shifted = days + 719_468
        let era = shifted.floorDivided(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = Int(dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100))
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// The days since 1970-01-01.
    package var daysSinceEpoch: Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = shiftedYear.floorDivided(by: 400)
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = Int64((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1)
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    package var instant: DurableInstant { DurableInstant(microseconds: minutesSinceEpoch * 60_000_000) }

    var minutesSinceEpoch: Int64 { (daysSinceEpoch * 24 + Int64(hour)) * 60 + Int64(minute) }

    /// The day of the week: 0 is Sunday.
    package var weekday: Int { Int((daysSinceEpoch + 4) - (daysSinceEpoch + 4).floorDivided(by: 7) * 7) }

    package static func days(ofMonth month: Int, year: Int64) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }
}

extension Int64 {
    func floorDivided(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

extension DurableInstant: CustomStringConvertible {
    /// The instant in the form `2026-11-25 19:00:05 UTC`.
    public var description: String {
        let time = CivilTime(self)
        // The first minute of the range has no instant of its own.
        let second = (microseconds % 60_000_000 + 60_000_000) % 60_000_000 / 1_000_000
        func two(_ number: some BinaryInteger) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let date = "\(time.year)-\(two(time.month))-\(two(time.day))"
        return "\(date) \(two(time.hour)):\(two(time.minute)):\(two(second)) UTC"
    }
}
