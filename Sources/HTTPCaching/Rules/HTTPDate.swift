#if Networking
import Foundation

/// A date of HTTP, in any of its three formats (RFC 9110 §5.6.7). Total; time zones other than GMT are none.
enum HTTPDate {
    /// Nil if it is no date.
    static func parse(_ text: String) -> Date? {
        let words = text.split(whereSeparator: { " ,-\t".contains($0) }).map(String.init)
        switch words.count {
        // Sun, 06 Nov 1994 08:49:37 GMT
        case 6 where words[0].count == 3 && words[3].count == 4:
            guard isGMT(words[5]) else { return nil }
            return date(year: digits(words[3], 4...4), words[2], day: words[1], words[4])
        // Sunday, 06-Nov-94 08:49:37 GMT
        case 6 where words[3].count == 2:
            guard isGMT(words[5]), let year = digits(words[3], 2...2) else { return nil }
            return date(year: fullYear(year), words[2], day: words[1], words[4])
        // Sun Nov  6 08:49:37 1994
        case 5: return date(year: digits(words[4], 4...4), words[1], day: words[2], words[3])
        default: return nil
        }
    }

    /// In the preferred format.
    static func format(_ date: Date) -> String {
        // Within the years of four digits.
        let seconds = Int(max(-62_135_596_800, min(date.timeIntervalSince1970, 253_402_300_799)).rounded(.down))
        let days = Int((Double(seconds) / 86400).rounded(.down))
        let rest = seconds - days * 86400
        let (year, month, day) = civil(days)
        let weekday = weekdays[((days + 4) % 7 + 7) % 7]
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let digits = String(repeating: "0", count: 4 - "\(year)".count) + "\(year)"
        let time = "\(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60))"
        return "\(weekday), \(two(day)) \(months[month - 1]) \(digits) \(time) GMT"
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]

    private static func isGMT(_ word: String) -> Bool { ["gmt", "utc", "ut"].contains(word.lowercased()) }

    /// Two digits mean a year from 1970 to 2069.
    private static func fullYear(_ year: Int) -> Int { year < 70 ? 2000 + year : 1900 + year }

    private static func digits(_ word: some StringProtocol, _ count: ClosedRange<Int>) -> Int? {
        guard count.contains(word.utf8.count) else { return nil }
        return CacheControl.deltaSeconds(word)
    }

    private static func date(year: Int?, _ monthName: String, day dayWord: String, _ time: String) -> Date? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false)
        guard let year, year >= 1, clock.count == 3,
            let month = months.firstIndex(where: { $0.lowercased() == monthName.lowercased() }),
            let day = digits(dayWord, 1...2), let hour = digits(clock[0], 1...2),
            let minute = digits(clock[1], 2...2), let second = digits(clock[2], 2...2),
            hour < 24, minute < 60, second <= 60
        else { return nil }
        let days = dayNumber(year, month + 1, day)
        // The 31st of a month of thirty days comes back as another day.
        guard day >= 1, civil(days) == (year, month + 1, day) else { return nil }
        return Date(timeIntervalSince1970: Double(days * 86400 + hour * 3600 + minute * 60 + second))
    }

    /// Days from 1970 on, by eras of 400 years that begin in March.
    private static func dayNumber(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let y = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = (y / 400, y % 400)
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ days: Int) -> (Int, Int, Int) {
        let z = days + 719_468
        let (era, dayOfEra) = (z / 146_097, z % 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}
#endif
