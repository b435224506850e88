import AsyncHTTPClient
import HTTPTypes
import HTTPTestServer
import Testing

@Suite struct LoopbackResourceTests {
    static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    static let resource = LoopbackResource(
        .text("0123456789"), contentType: "text/plain", eTag: "\"one\"", lastModified: date, cacheControl: "max-age=60")

    static func request(_ fields: HTTPFields = [:], _ method: HTTPRequest.Method = .get) -> LoopbackRequest {
        LoopbackRequest(method, fields: fields)
    }

    static func response(_ fields: HTTPFields, lies: Set<LoopbackResource.Lie> = []) -> LoopbackResponse {
        var resource = resource
        resource.lies = lies
        return resource.response(to: request(fields))
    }

    static func text(_ response: LoopbackResponse) -> String { String(decoding: response.body.bytes, as: UTF8.self) }

    @Test func `without a condition the complete body is sent with its metadata`() {
        let response = Self.response([:])
        #expect(response.status == .ok && Self.text(response) == "0123456789")
        #expect(response.fields[.eTag] == "\"one\"" && response.fields[.lastModified] == Self.date)
        #expect(response.fields[.cacheControl] == "max-age=60" && response.fields[.acceptRanges] == "bytes")
        #expect(response.fields[.contentType] == "text/plain")
    }

    @Test(arguments: [
        ("bytes=0-3", 206, "0123", "bytes 0-3/10"), ("bytes=4-", 206, "456789", "bytes 4-9/10"),
        ("bytes=-3", 206, "789", "bytes 7-9/10"), ("bytes=-30", 206, "0123456789", "bytes 0-9/10"),
        ("bytes=9-99", 206, "9", "bytes 9-9/10"), ("BYTES = 2-2", 206, "2", "bytes 2-2/10"),
        ("bytes=10-", 416, "", "bytes */10"), ("bytes=-0", 416, "", "bytes */10"),
        ("bytes=3-1", 200, "0123456789", nil), ("bytes=0-1,3-4", 200, "0123456789", nil),
        ("lines=0-1", 200, "0123456789", nil), ("bytes=", 200, "0123456789", nil), ("bytes=-", 200, "0123456789", nil),
        ("bytes=a-b", 200, "0123456789", nil), ("bytes=99999999999999999999-", 200, "0123456789", nil),
        ("bytes=+1-2", 200, "0123456789", nil), ("bytes=0-9223372036854775807", 206, "0123456789", "bytes 0-9/10"),
    ])
    func `a range is answered according to its syntax`(range: String, status: Int, body: String, contentRange: String?)
    {
        let response = Self.response([.range: range])
        #expect(response.status.code == status && Self.text(response) == body)
        #expect(response.fields[.contentRange] == contentRange)
    }

    @Test(arguments: [
        ("\"one\"", 206), (date, 206), ("\"two\"", 200), ("W/\"one\"", 200), ("Mon, 07 Nov 1994 08:49:37 GMT", 200),
    ])
    func `If-Range gives a part only of the same version`(condition: String, status: Int) {
        #expect(Self.response([.range: "bytes=0-3", .ifRange: condition]).status.code == status)
    }

    static let conditions: [(fields: HTTPFields, status: Int)] = [
        ([.ifNoneMatch: "\"one\""], 304), ([.ifNoneMatch: "\"a\", W/\"one\""], 304), ([.ifNoneMatch: "*"], 304),
        ([.ifNoneMatch: "\"two\""], 200), ([.ifNoneMatch: "\"two\"", .ifModifiedSince: date], 200),
        ([.ifModifiedSince: date], 304), ([.ifModifiedSince: "Mon, 07 Nov 1994 08:49:37 GMT"], 304),
        ([.ifModifiedSince: "Sat, 05 Nov 1994 08:49:37 GMT"], 200), ([.ifModifiedSince: "yesterday"], 200),
        ([.ifNoneMatch: "\"one\"", .range: "bytes=0-1"], 304),
    ]

    @Test(arguments: conditions)
    func `an unchanged resource is not sent again`(fields: HTTPFields, status: Int) {
        let response = Self.response(fields)
        #expect(response.status.code == status)
        if status == 304 { #expect(response.body.length == 0 && response.fields[.eTag] == "\"one\"") }
    }

    @Test func `the resource commits the configured violations`() {
        func lie(_ lie: LoopbackResource.Lie, _ fields: HTTPFields = [.range: "bytes=2-4"]) -> LoopbackResponse {
            Self.response(fields, lies: [lie])
        }
        #expect(lie(.ignoresRange).status == .ok)
        #expect(lie(.refusesRange).status == .rangeNotSatisfiable)
        #expect(lie(.shiftsContentRange).fields[.contentRange] == "bytes 3-5/10")
        #expect(lie(.wrongTotal).fields[.contentRange] == "bytes 2-4/11")
        #expect(lie(.omitsContentRange).fields[.contentRange] == nil)
        #expect(lie(.omitsContentRange).status == .partialContent)
        #expect(Self.text(lie(.sendsWrongPart)) == "012")
        #expect(lie(.changesETagOfPart).fields[.eTag] == "\"another\"")
        #expect(lie(.ignoresIfRange, [.range: "bytes=2-4", .ifRange: "\"two\""]).status == .partialContent)
        #expect(lie(.alwaysNotModified, [:]).status == .notModified)
        guard case .announces(length: 11)? = lie(.announcesMore, [:]).faults.first,
            case .announces(length: 9)? = lie(.announcesLess, [:]).faults.first
        else {
            Issue.record("the announced length is correct")
            return
        }
    }

    @Test func `only GET and HEAD are allowed`() {
        let response = Self.resource.response(to: Self.request([:], .post))
        #expect(response.status == .methodNotAllowed && response.fields[.allow] == "GET, HEAD")
        #expect(Self.resource.response(to: Self.request([.range: "bytes=0-1"], .head)).status == .ok)
    }
}
