import FoundationEssentials
import HTTPCore
import HTTPTypes
import Testing

@Suite struct ResumePointTests {
    private static let now = Date(timeIntervalSince1970: 1_750_000_000)
    private static let modified = "Sun, 06 Nov 1994 08:49:37 GMT"

    private func response(_ status: Int, _ fields: [(HTTPField.Name, String)] = []) -> HTTPResponse {
        var response = HTTPResponse(status: .init(code: status))
        for (name, value) in fields { response.headerFields.append(HTTPField(name: name, value: value)) }
        return response
    }

    private func point(status: Int = 200, received: Int64 = 5, _ fields: (HTTPField.Name, String)...) -> ResumePoint? {
        ResumePoint(received: received, response: response(status, fields), now: Self.now)
    }

    @Test func `without a strong validator there is no resume point`() {
        let (tag, length): (_, _) = ((HTTPField.Name.eTag, "\"a\""), (HTTPField.Name.contentLength, "10"))
        #expect(point() == nil)
        #expect(point(length) == nil)
        #expect(point((.eTag, "W/\"a\""), length) == nil)
        for bad in ["a", "\"a", "a\"", "\"", "", "\"a\"b\"", "\"a\"\u{301}b\"", "w/\"a\""] {
            #expect(point((.eTag, bad)) == nil, "\(bad)")
        }
        #expect(point((.lastModified, Self.modified)) == nil)
        #expect(point((.lastModified, Self.modified), (.date, Self.modified)) == nil)
        #expect(point((.lastModified, "yesterday"), (.date, "Sun, 06 Nov 1994 08:49:38 GMT")) == nil)
        #expect(point(received: 0, tag) == nil)
        #expect(point(received: 11, tag, length) == nil)
        #expect(point(tag, (.contentEncoding, "gzip")) == nil)
        #expect(point(tag, (.acceptRanges, "None")) == nil)
        for status in [201, 204, 301, 404, 416, 500] { #expect(point(status: status, tag) == nil) }
        #expect(point(status: 206, tag) == nil)
        #expect(point(status: 206, tag, (.contentRange, "bytes */10")) == nil)
    }

    @Test func `a strong ETag is preferred to a date before the date of the response`() {
        #expect(
            point((.eTag, "\"a\""), (.contentLength, "10"))
                == .init(received: 5, validator: .entityTag("\"a\""), total: 10))
        #expect(
            point((.eTag, "\"\""), (.contentLength, "x"))
                == .init(received: 5, validator: .entityTag("\"\""), total: nil))
        let date = (HTTPField.Name.date, "Sun, 06 Nov 1994 08:49:38 GMT")
        let byDate = ResumePoint(received: 5, validator: .lastModified(Self.modified), total: nil)
        #expect(point((.lastModified, Self.modified), date) == byDate)
        #expect(point((.lastModified, Self.modified), date, (.eTag, "W/\"a\"")) == byDate)
        #expect(
            point(status: 206, (.eTag, "\"a\""), (.contentRange, "bytes 2-9/10"), (.contentLength, "8"))
                == .init(received: 5, validator: .entityTag("\"a\""), total: 10))
        #expect(point(received: 10, (.eTag, "\"a\""), (.contentLength, "10"))?.isComplete == true)
        #expect(byDate.isComplete == false)
    }

    @Test func `the request asks for the uncompressed rest of the same version`() {
        let byTag = ResumePoint(received: 5, validator: .entityTag("\"a\""), total: nil).requestFields
        #expect(byTag == [.range: "bytes=5-", .ifRange: "\"a\"", .acceptEncoding: "identity"])
        let byDate = ResumePoint(received: .max, validator: .lastModified(Self.modified), total: nil).requestFields
        #expect(byDate == [.range: "bytes=9223372036854775807-", .ifRange: Self.modified, .acceptEncoding: "identity"])
    }

    @Test func `a resume point can be saved and restored`() throws {
        for validator in [ResumePoint.Validator.entityTag("\"a\""), .lastModified(Self.modified)] {
            let point = ResumePoint(received: 5, validator: validator, total: 10)
            #expect(try JSONDecoder().decode(ResumePoint.self, from: JSONEncoder().encode(point)) == point)
        }
    }

    static let verdicts: [(Int, [(HTTPField.Name, String)], ResumePoint.Verdict)] = [
        (206, [], .askAgain),
        (206, [(.contentType, "multipart/byteranges; boundary=x")], .askAgain),
        (206, [(.contentRange, "nonsense")], .askAgain),
        (206, [(.contentRange, "bytes */10")], .askAgain),
        (206, [(.contentRange, "bytes 5-9/10"), (.contentRange, "bytes 5-9/10")], .askAgain),
        (206, [(.contentRange, "bytes 4-9/10")], .askAgain),
        (206, [(.contentRange, "bytes 6-9/10")], .askAgain),
        (206, [(.contentRange, "bytes 0-9/10")], .askAgain),
        (206, [(.contentRange, "bytes 5-9/11")], .askAgain),
        (206, [(.contentRange, "bytes 5-10/*")], .askAgain),
        (206, [(.contentRange, "bytes 5-9/10"), (.eTag, "\"b\"")], .askAgain),
        (206, [(.contentRange, "bytes 5-9/10"), (.eTag, "W/\"a\"")], .askAgain),
        (206, [(.contentRange, "bytes 5-9/10"), (.contentEncoding, "gzip")], .askAgain),
        (206, [(.contentRange, "bytes 5-9/10"), (.contentLength, "6")], .askAgain),
        (206, [(.contentRange, "bytes 5-9/10")], .proceed(length: 5, total: 10)),
        (206, [(.contentRange, "bytes 5-9/*")], .proceed(length: 5, total: 10)),
        (206, [(.contentRange, "bytes 5-7/10"), (.contentLength, "3")], .proceed(length: 3, total: 10)),
        (
            206, [(.contentRange, "bytes 5-9/10"), (.eTag, "\"a\""), (.contentEncoding, "identity")],
            .proceed(length: 5, total: 10)
        ),
        (200, [], .startOver),
        (200, [(.contentRange, "bytes 0-9/10")], .startOver), (200, [(.contentRange, "bytes 0-9/*")], .startOver),
        (200, [(.contentRange, "nonsense")], .startOver), (200, [(.contentRange, "bytes */10")], .startOver),
        (200, [(.eTag, "\"a\""), (.contentRange, "bytes 5-9/10")], .askAgain),
        (200, [(.contentRange, "bytes 0-4/10")], .askAgain),
        (416, [], .askAgain),
        (416, [(.contentRange, "bytes */10")], .askAgain),
        (416, [(.contentRange, "bytes */4")], .askAgain),
        (416, [(.contentRange, "bytes */*")], .askAgain),
        (416, [(.contentRange, "bytes 5-9/10")], .askAgain),
        (416, [(.contentRange, "bytes */5")], .askAgain),
        (202, [], .askAgain), (204, [], .askAgain), (412, [], .askAgain),
        (302, [], .unrelated), (304, [], .unrelated), (401, [], .unrelated), (404, [], .unrelated),
        (503, [], .unrelated),
    ]

    @Test(arguments: verdicts) func `only the next bytes of the same version are accepted`(
        status: Int, fields: [(HTTPField.Name, String)], verdict: ResumePoint.Verdict
    ) {
        let point = ResumePoint(received: 5, validator: .entityTag("\"a\""), total: 10)
        #expect(point.verdict(on: response(status, fields)) == verdict)
    }

    @Test func `416 with the same length and version means that the body is complete`() {
        for total in [5, nil] as [Int64?] {
            let point = ResumePoint(received: 5, validator: .lastModified(Self.modified), total: total)
            #expect(point.verdict(on: response(416, [(.contentRange, "bytes */5")])) == .complete)
            #expect(
                point.verdict(on: response(416, [(.contentRange, "bytes */5"), (.lastModified, Self.modified)]))
                    == .complete)
            let other = [(HTTPField.Name.contentRange, "bytes */5"), (.lastModified, "Sun, 06 Nov 1994 08:49:38 GMT")]
            #expect(point.verdict(on: response(416, other)) == .askAgain)
        }
    }

    @Test func `an unknown length is taken from the response`() {
        let point = ResumePoint(received: 5, validator: .entityTag("\"a\""), total: nil)
        #expect(point.verdict(on: response(206, [(.contentRange, "bytes 5-9/10")])) == .proceed(length: 5, total: 10))
        let huge = response(206, [(.contentRange, "bytes 5-9223372036854775806/9223372036854775807")])
        #expect(point.verdict(on: huge) == .proceed(length: .max - 5, total: .max))
    }

    @Test func `a part of a body of unknown length is not used, because it may be too short`() {
        let point = ResumePoint(received: 5, validator: .entityTag("\"a\""), total: nil)
        #expect(point.verdict(on: response(206, [(.contentRange, "bytes 5-9/*")])) == .askAgain)
    }
}
