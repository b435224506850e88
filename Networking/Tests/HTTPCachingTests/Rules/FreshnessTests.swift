import Foundation
import HTTPCaching
import HTTPTypes
import Testing

@Suite struct FreshnessTests {
    @Test(
        arguments: [
            // (fields, request s, response s, now s, age)
            ([], 0, 0, 10, 10),
            (["Age: 5"], 0, 0, 10, 15),
            (["Age: 5"], 0, 2, 10, 15),  // 5 + 2 on the way + 8 here
            (["Age: 5, 100"], 0, 0, 0, 5), (["Age: 100, 5"], 0, 0, 0, 100),
            (["Age: 5", "Age: 100"], 0, 0, 0, 5), (["Age: 100", "Age: 5"], 0, 0, 0, 100),
            (["Age: , 100"], 0, 0, 0, 100), (["Age: ", "Age: 100"], 0, 0, 0, 100), (["Age:  007 "], 0, 0, 0, 7),
            (["Age: 1 2"], 0, 0, 0, 0), (["Age: 7.0"], 0, 0, 0, 0), (["Age: 7;x=1"], 0, 0, 0, 0),
            (["Age: \"7\""], 0, 0, 0, 0), (["Age: +7"], 0, 0, 0, 0), (["Age: x, 7"], 0, 0, 0, 0),
            (["Age: x"], 0, 0, 3, 3),
            (["Age: -4"], 0, 0, 3, 3),
            (["Age: 99999999999999999999"], 0, 0, 0, 2_147_483_648),
            (["Date: \(httpDate(-30))"], 0, 0, 10, 40),  // by its date it is older than its age
            (["Date: \(httpDate(-30))", "Age: 50"], 0, 0, 10, 60),
            (["Date: \(httpDate(30))"], 0, 0, 10, 10),  // a server ahead of us
            (["Date: yesterday"], 0, 0, 10, 10),
            (["Date: \(httpDate(-30))", "Date: \(httpDate(0))"], 0, 0, 10, 40),
            (["Date: \(httpDate(0))", "Date: \(httpDate(-30))"], 0, 0, 10, 40),
            ([], 5, 0, 0, 0),  // clocks set back, between and since
            (["Age: 7"], 0, 0, -100, 7),
        ] as [([String], Double, Double, Double, Double)])
    func `the age is computed as in RFC 9111`(
        lines: [String], request: Double, response: Double, now: Double, age: Double
    ) {
        let stored = StoredResponse(answer(200, lines), requestTime: at(request), responseTime: at(response))
        #expect(Freshness.age(of: stored, at: at(now)) == age)
    }

    @Test(
        arguments: [
            (200, ["Cache-Control: max-age=60"], 60),
            (200, ["Cache-Control: max-age=60", "Expires: \(httpDate(5))"], 60),
            (200, ["Cache-Control: s-maxage=60"], 0),
            (200, ["Cache-Control: max-age=x", "Expires: \(httpDate(5))"], 0),
            (200, ["Expires: \(httpDate(5))"], 5),
            (200, ["Date: \(httpDate(-10))", "Expires: \(httpDate(5))"], 15),
            (200, ["Expires: \(httpDate(-5))"], 0),
            (200, ["Expires: \(httpDate(50))", "Expires: \(httpDate(5))"], 5),
            (200, ["Expires: \(httpDate(50))", "Expires: 0"], 0),
            (200, ["Expires: 0"], 0),
            (200, ["Expires: 0", "Last-Modified: \(httpDate(-1000))"], 0),
            (200, ["Expires: Sunday, 06-Nov-94 08:50:37 GMT"], 60),
            (200, ["Expires: Sun Nov  6 08:50:37 1994"], 60),
            (200, ["Last-Modified: \(httpDate(-1000))"], 100),
            (404, ["Last-Modified: \(httpDate(-1000))"], 100),
            (200, ["Date: \(httpDate(-500))", "Last-Modified: \(httpDate(-1000))"], 50),
            (200, ["Last-Modified: Sun, 06 Nov 1904 08:49:37 GMT"], 86400),
            (200, ["Last-Modified: \(httpDate(1000))"], 0),
            (200, ["Last-Modified: lately"], 0),
            (302, ["Last-Modified: \(httpDate(-1000))"], 0),
            (500, ["Last-Modified: \(httpDate(-1000))"], 0),
            (302, ["Cache-Control: public", "Last-Modified: \(httpDate(-1000))"], 100),
            (200, ["ETag: \"a\""], 0),
        ] as [(Int, [String], Double)])
    func `the lifetime is max-age, Expires, or a tenth of the time since the last change`(
        status: Int, lines: [String], lifetime: Double
    ) {
        let stored = StoredResponse(answer(status, lines), requestTime: origin, responseTime: origin)
        #expect(Freshness.lifetime(of: stored) == lifetime)
    }

    @Test func `the heuristic applies to exactly the heuristically cacheable statuses`() {
        let guessed = (100...599).filter { status in
            Freshness.lifetime(of: stored(status, "Last-Modified: \(httpDate(-1000))")) > 0
        }
        #expect(guessed == [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501])
    }

    @Test func `a response is fresh before the end of its lifetime and stale at the end`() {
        let response = stored(200, "Cache-Control: max-age=60")
        #expect(Freshness(of: response, at: at(59.9)).isFresh)
        #expect(!Freshness(of: response, at: at(60)).isFresh)
        #expect(Freshness(of: response, at: at(65)).staleness == 5)
        #expect(Freshness.end(of: response) == at(60))
        #expect(Freshness.end(of: stored(200, "Age: 20", "Cache-Control: max-age=60")) == at(40))
        #expect(Freshness.end(of: stored(200)) == .distantPast)
        #expect(!Freshness(of: stored(200, "Age: 100", "Cache-Control: max-age=60"), at: origin).isFresh)
    }

    @Test func `a maximum age of the policy replaces the headers, and a negative age counts as zero`() {
        let response = stored(200, "Cache-Control: max-age=60")
        #expect(Freshness(of: response, at: at(80), ownMaxAge: .seconds(100)).isFresh)
        #expect(!Freshness(of: response, at: at(10), ownMaxAge: .seconds(5)).isFresh)
        #expect(!Freshness(of: response, at: at(0), ownMaxAge: .seconds(-5)).isFresh)
    }
}
