#if Networking
import Foundation
import Testing
import TestSupport

@testable import HTTPCaching

@Suite struct HTTPDateTests {
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "Sun, 06 nov 1994 08:49:37 gmt", "Sun, 06 Nov 1994 8:49:37 UTC", "Xxx, 06 Nov 1994 08:49:37 GMT",
    ])
    func `all three formats name the same instant`(text: String) { #expect(HTTPDate.parse(text) == origin) }

    @Test(arguments: [
        "", "0", "-1", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 PST",
        "Sun, 31 Nov 1994 08:49:37 GMT", "Wed, 29 Feb 2023 00:00:00 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49 GMT",
        "Sun, 06 Nov 0000 08:49:37 GMT", "Sun, 06 Nov 99999 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 +0000",
        "Sun, -6 Foo 1994 08:49:37 GMT", "Sun Nov 6 08:49:37 94", "1994-11-06T08:49:37Z",
        "Thu, 99 Jan 1970 00:00:00 GMT",
    ])
    func `what is no date is none`(text: String) { #expect(HTTPDate.parse(text) == nil) }

    @Test func `two digits mean 1970 to 2069`() {
        let year = { (text: String) in HTTPDate.parse(text)?.timeIntervalSince1970 }
        #expect(year("Thursday, 01-Jan-70 00:00:00 GMT") == 0)
        #expect(year("Tuesday, 01-Jan-69 00:00:00 GMT") == 3_124_224_000)
    }

    @Test func `what is written is read, for every day of many years, and at the ends of time`() {
        for day in stride(from: -719_162, to: 2_932_896, by: 97) {
            let date = Date(timeIntervalSince1970: Double(day) * 86400 + 3723)
            #expect(HTTPDate.parse(HTTPDate.format(date)) == date, "\(day)")
        }
        #expect(HTTPDate.format(origin) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.format(.distantFuture).hasSuffix("GMT") && HTTPDate.format(.distantPast).hasSuffix("GMT"))
        #expect(HTTPDate.format(Date(timeIntervalSince1970: .infinity)).hasSuffix("23:59:59 GMT"))
    }
}
#endif
