import FoundationEssentials
import HTTPCore
import TestSupport
import Testing

@Suite struct HTTPDateTests {
    static let now = Date(timeIntervalSince1970: 1_750_000_000)  // 15 June 2025
    static let example = Date(timeIntervalSince1970: 784_111_777)

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "sun, 6 nov 1994 08:49:37 gmt", "  Sun,  06 Nov 1994   08:49:37 GMT ", "Mon, 06 Nov 1994 8:49:37 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT",
    ])
    func `the three formats of RFC 9110 are parsed`(text: String) {
        #expect(HTTPDate.parse(text, now: Self.now) == Self.example)
    }

    @Test(arguments: [
        "", " ", "0", "-1", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 06 Nov 1994 08:49:37 +0000",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 1994 08:49:37 GMT",
        "Sun, 29 Feb 1900 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 08:49 GMT",
        "Sun, 06 Nov 1994 08:49:37:00 GMT", "Sun, 06 Nov 994 08:49:37 GMT", "Sun, 06 Nov 19944 08:49:37 GMT",
        "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov -994 08:49:37 GMT", "Sun, 06 Nov 1994 +8:49:37 GMT",
        "06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov 08:49:37 GMT", "Sunday, 06-Nov-94-1 08:49:37 GMT", "Sun Nov 6 1994 08:49:37",
        "Sun, ٠٦ Nov 1994 08:49:37 GMT",
        "1, 06 Nov 1994 08:49:37 GMT", "Sun, 999999999999999999999 Nov 1994 08:49:37 GMT", "\0",
        "Sun,\n06 Nov 1994 08:49:37 GMT",
    ])
    func `other texts give nil`(text: String) {
        #expect(HTTPDate.parse(text, now: Self.now) == nil)
    }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "Sun Nov 06 08:49:37 1994", "sun, 06 nov 1994 08:49:37 gmt",
    ])
    func `the three formats are exact`(text: String) {
        #expect(HTTPDate.parseExactly(text, now: Self.now) == Self.example)
    }

    @Test(arguments: [
        "Sun, 06 Nov 94 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT", "Sun, 06  Nov 1994 08:49:37 GMT",
        "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT", " Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ",
        "Sunday, 06-Nov-1994 08:49:37 GMT", "Sunday, 06 Nov 1994 08:49:37 GMT", "Sun,\t06 Nov 1994 08:49:37 GMT",
        "Sun Nov 6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 32 Nov 1994 08:49:37 GMT", "", "0", "-1",
    ])
    func `malformed dates are not exact`(text: String) {
        #expect(HTTPDate.parseExactly(text, now: Self.now) == nil)
    }

    @Test(arguments: [("75", 2075), ("76", 1976), ("25", 2025), ("00", 2000), ("99", 1999)])
    func `a year of two digits is at most fifty years ahead`(digits: String, year: Int) {
        let short = HTTPDate.parse("Sunday, 06-Nov-\(digits) 08:49:37 GMT", now: Self.now)
        #expect(short != nil)
        #expect(short == HTTPDate.parse("Sun, 06 Nov \(year) 08:49:37 GMT", now: Self.now))
    }

    @Test(
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"), (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (-62_167_219_200, "Sat, 01 Jan 0000 00:00:00 GMT"), (0.999, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (-0.5, "Wed, 31 Dec 1969 23:59:59 GMT"), (.infinity, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (-.infinity, "Sat, 01 Jan 0000 00:00:00 GMT"), (.nan, "Thu, 01 Jan 1970 00:00:00 GMT"),
        ] as [(Double, String)])
    func `dates are formatted as in RFC 9110`(seconds: Double, text: String) {
        #expect(HTTPDate.format(Date(timeIntervalSince1970: seconds)) == text)
    }

    @Test(arguments: 0..<50 as Range<UInt64>) func `formatted dates are parsed again`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<100 {
            let date = Date(timeIntervalSince1970: Double(random.below(315_569_519_999) - 62_167_219_200))
            #expect(HTTPDate.parse(HTTPDate.format(date), now: Self.now) == date)
        }
    }

    @Test(
        arguments: [
            ("", nil), ("x", nil), ("-1", nil), ("1.5", nil), ("1 s", nil), ("+1", nil), ("1,2", nil), ("１", nil),
            ("0", .zero), ("120", .seconds(120)), (" 7 ", .seconds(7)), ("604800", .seconds(604_800)),
            ("99999999999999999999999999", .seconds(31_536_000)), ("Sun, 15 Jun 2025 15:06:50 GMT", .seconds(10)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", .zero), ("Fri, 31 Dec 9999 23:59:59 GMT", .seconds(31_536_000)),
        ] as [(String, Duration?)])
    func `Retry-After is seconds or a date, and never longer than a year`(value: String, delay: Duration?) {
        #expect(RetryAfter.delay(value, now: Self.now) == delay)
    }
}
