import FoundationEssentials
import HTTPCore
import HTTPTypes
import Testing

@Suite struct HTTPSerializerTests {
    private struct Item: Codable, Equatable { var name: String }
    private struct Wrong: Error {}

    private func response(_ status: Int = 200, _ type: String? = nil) -> HTTPResponse {
        var response = HTTPResponse(status: .init(code: status))
        response.headerFields[.contentType] = type
        return response
    }

    private func failure<Value>(
        _ serializer: HTTPSerializer<Value>, _ body: String, _ response: HTTPResponse
    ) -> String? {
        do throws(HTTPError) {
            _ = try serializer.value(Data(body.utf8), response, url: "http://h/")
            return nil
        } catch {
            #expect(error.url == "http://h/")
            #expect(error.response == response)
            switch error.reason {
            case .unacceptableStatus(let status): return "status \(status)"
            case .unacceptableType(let type): return "type \(type ?? "none")"
            case .emptyBody: return "empty"
            case .undecodable: return "undecodable"
            default: return "\(error.reason)"
            }
        }
    }

    @Test(arguments: [100, 199, 300, 304, 400, 404, 500]) func `statuses outside of 200 to 299 are refused`(status: Int)
    {
        #expect(failure(.data, "x", response(status)) == "status \(status)")
        #expect(failure(.json(Item.self), "", response(status, "x")) == "status \(status)")
        var all = HTTPSerializer.data
        all.acceptableStatuses = nil
        #expect(failure(all, "x", response(status)) == nil)
    }

    @Test func `data and text accept every type and an empty body`() throws {
        #expect(try HTTPSerializer.data.value(Data(), response(204), url: "") == Data())
        #expect(
            try HTTPSerializer.text.value(Data([0xFC]), response(200, "text/plain; charset=iso-8859-1"), url: "") == "ü"
        )
        #expect(try HTTPSerializer.text.value(Data([0xFC]), response(200, "nonsense"), url: "") == "\u{FFFD}")
        #expect(try HTTPSerializer.text.value(Data(), response(), url: "") == "")
    }

    @Test func `text in an unknown charset is UTF-8, or fails with the charset's name`() throws {
        let gbk = Data([0xC4, 0xE3, 0xBA, 0xC3])
        let text = HTTPSerializer.text
        #expect(try text.value(gbk, response(200, "text/plain; charset=gbk"), url: "") == "你好")
        let unknown = response(200, "text/plain; charset=Klingon")
        #expect(try text.value(Data("ü".utf8), unknown, url: "") == "ü")
        let error = #expect(throws: HTTPError.self) { try text.value(gbk, unknown, url: "") }
        guard case .undecodable(let cause) = error?.reason else { return #expect(Bool(false), "\(error as Any)") }
        #expect((cause as? UnknownCharset)?.name == "klingon")
    }

    @Test(
        arguments: [
            (#"{"name":"a"}"#, "application/json", nil),
            (#"{"name":"a"}"#, "application/problem+json; charset=utf-8", nil),
            (#"{"name":"a"}"#, "text/html", "type text/html"), (#"{"name":"a"}"#, nil, "type none"),
            (#"{"name":"a"}"#, "bad", "type bad"),
            ("{", "application/json", "undecodable"), ("{}", "application/json", "undecodable"),
            ("", "application/json", "empty"),
            ("", nil, "empty"), ("", "text/html", "empty"), (" ", "application/json", "undecodable"),
            ("\0", "text/json", "undecodable"),
        ] as [(String, String?, String?)])
    func `JSON is decoded if the type is JSON`(body: String, type: String?, failure expected: String?) {
        #expect(failure(.json(Item.self), body, response(200, type)) == expected)
    }

    @Test(arguments: [204, 205, 200]) func `a response without a body is nil for an optional value`(status: Int) throws
    {
        let empty = response(status, status == 200 ? "application/json" : nil)
        #expect(try HTTPSerializer.json(Item?.self).value(Data(), empty, url: "") == nil)
        #expect(try HTTPSerializer.propertyList([Item]?.self).value(Data(), empty, url: "") == nil)
        let full = response(200, "application/json")
        #expect(
            try HTTPSerializer.json(Item?.self).value(Data(#"{"name":"a"}"#.utf8), full, url: "") == Item(name: "a"))
        #expect(try HTTPSerializer.json(Item?.self).value(Data("null".utf8), full, url: "") == nil)
        #expect(failure(.json([Item].self), "", empty) == "empty")
        #expect(failure(.json(Item?.self), "", response(500)) == "status 500")
    }

    @Test func `JSON is decoded with the caller's decoder`() throws {
        let serializer = HTTPSerializer.json(Date.self) {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .secondsSince1970
            return decoder
        }
        let date = try serializer.value(Data("5".utf8), response(200, "application/json"), url: "")
        #expect(date == Date(timeIntervalSince1970: 5))
    }

    @Test(arguments: [false, true]) func `XML and binary property lists are decoded`(binary: Bool) throws {
        let body = try EncodedBody.propertyList(Item(name: "a"), binary: binary)
        let serializer = HTTPSerializer.propertyList(Item.self)
        #expect(try serializer.value(body.bytes, response(200, body.contentType), url: "") == Item(name: "a"))
        #expect(failure(serializer, "nonsense", response(200, "application/xml")) == "undecodable")
        #expect(failure(serializer, "", response(200, "application/xml")) == "empty")
        #expect(failure(serializer, "x", response(200, "application/json")) == "type application/json")
    }

    @Test func `the first serializer that accepts the response decodes it`() throws {
        let serializer = HTTPSerializer.firstOf([
            .json(Item.self), .propertyList(),
            HTTPSerializer(acceptableTypes: ["text/*"]) { body, _ in
                guard !body.isEmpty else { throw Wrong() }
                return Item(name: String(decoding: body, as: UTF8.self))
            },
        ])
        func name(_ body: Data, _ type: String) throws -> String {
            try serializer.value(body, response(200, type), url: "").name
        }
        #expect(try name(Data(#"{"name":"j"}"#.utf8), "application/json") == "j")
        #expect(try name(try EncodedBody.propertyList(Item(name: "p")).bytes, "application/x-plist") == "p")
        #expect(try name(Data("t".utf8), "text/plain") == "t")
        #expect(try name(Data("<no list>".utf8), "text/xml") == "<no list>")
        #expect(try name(Data("{".utf8), "text/json") == "{")
        // No serializer decodes the body. The error comes from the first serializer that accepted the type, or else
        // from the first serializer.
        #expect(failure(serializer, "{", response(200, "application/json")) == "undecodable")
        #expect(failure(serializer, "x", response(200, "image/png")) == "type image/png")
        #expect(failure(serializer, "x", response(200)) == "type none")
        #expect(failure(serializer, "x", response(500, "text/plain")) == "status 500")
        #expect(failure(serializer, "", response(200, "text/plain")) == "empty")
    }

    @Test func `Accept lists the accepted types`() {
        #expect(HTTPSerializer.data.accept == "*/*")
        #expect(HTTPSerializer.json(Item.self).accept == "application/json, text/json")
        #expect(HTTPSerializer.firstOf([.data, .data]).accept == "*/*")
        #expect(HTTPSerializer(acceptableTypes: ["*/*+json"]) { body, _ in body }.accept == "*/*")
        let text = HTTPSerializer(acceptableTypes: ["text/plain", "image/*", "text/plain"]) { body, _ in body }
        #expect(HTTPSerializer.firstOf([text, text]).map { $0.count }.accept == "text/plain, image/*")
    }

    @Test func `a refusal needs only the head of the response`() {
        #expect(HTTPSerializer.json(Item.self).objection(to: response(404)) != nil)
        #expect(HTTPSerializer.json(Item.self).objection(to: response(200, "text/html")) != nil)
        #expect(HTTPSerializer.json(Item.self).objection(to: response(200, "application/json")) == nil)
    }

    @Test func `map transforms a value and keeps the reasons of thrown errors`() throws {
        let count = HTTPSerializer.text.map { $0.count }
        #expect(try count.value(Data("abc".utf8), response(), url: "") == 3)
        let picky = HTTPSerializer.text.map { _ throws -> Int in throw HTTPError(.unauthorized, url: "other") }
        #expect(failure(picky, "", response()) == "unauthorized")
        let broken = HTTPSerializer.text.map { _ throws -> Int in throw Wrong() }
        #expect(failure(broken, "", response()) == "undecodable")
    }
}
