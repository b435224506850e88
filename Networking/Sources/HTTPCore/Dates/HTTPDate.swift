#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A formatter and parser for the dates of HTTP (RFC 9110, section 5.6.7), with a precision of one second, in GMT.
///
/// Foundation of Swift 6.3 has no style for these dates. The results of `gmtime_r` and `timegm` of the C library depend on the
/// time zone files of the process.
package enum HTTPDate {
    /// Returns a text such as `Sun, 06 Nov 1994 08:49:37 GMT`. Dates outside the years 0 to 9999 become the nearest
    /// date in that range.
    package static func format(_ date: Date) -> String {
        let interval = date.timeIntervalSince1970.isNaN ? 0 : date.timeIntervalSince1970.rounded(.down)
        let second = Int(min(max(interval, -62_167_219_200), 253_402_300_799))
        let day = second >= 0 ? second / 86400 : -((86399 - second) / 86400)
        let (year, month, dayOfMonth) = civil(day)
        let time = second - day * 86400
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let digits = String(year)
        let years = String(repeating: "0", count: 4 - digits.count) + digits
        let clock = [time / 3600, time / 60 % 60, time % 60].map(two).joined(separator: ":")
        // The epoch was a Thursday.
        let weekday = weekdays[((day + 4) % 7 + 7) % 7]
        return "\(weekday), \(two(dayOfMonth)) \(months[month - 1]) \(years) \(clock) GMT"
    }

    /// Parses the current format and the formats of RFC 850 and C's `asctime`. Returns nil for other texts. The parser
    /// ignores the name of the weekday. A year with two digits is the latest matching year that is at most fifty years
    /// after `now`.
    package static func parse(_ text: String, now: Date) -> Date? {
        let words = text.utf8.split(whereSeparator: { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") })
            .map { String(decoding: $0, as: UTF8.self) }
        let isWeekday = words.first.map { $0.utf8.dropLast($0.hasSuffix(",") ? 1 : 0).allSatisfy(\.isASCIILetter) }
        guard isWeekday == true else { return nil }
        switch words.count {
        case 6 where words[5].uppercased() == "GMT":
            return date(words[3], words[2], words[1], words[4], now: now)
        case 4 where words[3].uppercased() == "GMT":
            let parts = words[1].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 3 else { return nil }
            return date(parts[2], parts[1], parts[0], words[2], now: now)
        case 5: return date(words[4], words[1], words[2], words[3], now: now)
        default: return nil
        }
    }

    /// Parses only texts that have exactly one of the three formats, except for the case of letters. An `Expires` in another format
    /// means a date in the past (RFC 9111, section 5.3).
    package static func parseExactly(_ text: String, now: Date) -> Date? {
        let weekday = text.utf8.prefix { $0.isASCIILetter }.count
        let rest = text.utf8.dropFirst(weekday)
        func fits(_ format: StaticString) -> Bool {
            rest.count == format.utf8CodeUnitCount
                && zip(rest, UnsafeBufferPointer(start: format.utf8Start, count: format.utf8CodeUnitCount)).allSatisfy(
                    fits)
        }
        func fits(_ byte: UInt8, _ place: UInt8) -> Bool {
            switch place {
            case UInt8(ascii: "0"): byte.isASCIIDigit
            case UInt8(ascii: "_"): byte.isASCIIDigit || byte == UInt8(ascii: " ")
            case UInt8(ascii: "a"): byte.isASCIILetter
            default: byte == place || byte | 0x20 == place | 0x20 && place.isASCIILetter
            }
        }
        let isExact =
            weekday == 3
            ? fits(", 00 aaa 0000 00:00:00 GMT") || fits(" aaa _0 00:00:00 0000")
            : weekday >= 6 && fits(", 00-aaa-00 00:00:00 GMT")
        return isExact ? parse(text, now: now) : nil
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func date(_ yearText: String, _ monthName: String, _ dayText: String, _ clock: String, now: Date)
        -> Date?
    {
        let times = clock.split(separator: ":", omittingEmptySubsequences: false).map { number(String($0), 1...2) }
        guard times.count == 3, let hour = times[0], let minute = times[1], let second = times[2],
            hour < 24, minute < 60, second <= 60,
            let index = months.firstIndex(where: { $0.lowercased() == monthName.lowercased() }),
            let day = number(dayText, 1...2), day >= 1, var year = number(yearText, 2...4), yearText.utf8.count != 3
        else { return nil }
        let month = index + 1
        if yearText.utf8.count == 2 {
            let seconds = now.timeIntervalSince1970
            guard abs(seconds) < 1e11 else { return nil }
            let latest = civil(Int((seconds / 86400).rounded(.down))).year + 50
            year = latest - ((latest - year) % 100 + 100) % 100
        }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        guard day <= [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][index] else { return nil }
        let time = hour * 3600 + minute * 60 + second
        return Date(timeIntervalSince1970: Double(days(year, month, day) * 86400 + time))
    }

    private static func number(_ text: String, _ lengths: ClosedRange<Int>) -> Int? {
        guard lengths.contains(text.utf8.count), text.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        return Int(text)
    }

    /// Returns the days since the epoch in the Gregorian calendar. The computation starts each year in March, so that a
    /// leap day is the year's last day.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let part = (5 * dayOfYear + 2) / 153
        let month = part < 10 ? part + 3 : part - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * part + 2) / 5 + 1)
    }
}
