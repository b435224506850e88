import HTTPCore
import HTTPTypes
import Testing

@Suite struct RequestFieldsTests {
    @Test(arguments: [
        ("", "x"), ("a b", "x"), ("a:", "x"), (":authority", "x"), ("a\r\nB", "x"), ("a\0", "x"), ("ü", "x"),
        ("a(b)", "x"),
        ("A", "x\r\nB: y"), ("A", "x\n"), ("A", "\rx"), ("A", "x\0"), ("A", "\u{1}"), ("A", "\u{7F}"), ("A", "x\r\n y"),
    ])
    func `invalid names and values are refused, and errors show them without line breaks`(
        name: String, value: String
    ) {
        let error = #expect(throws: HTTPError.self) { try RequestFields.checked([(name, value)], url: "http://h/") }
        guard case .invalidHeader(let reported) = error?.reason else { return #expect(Bool(false)) }
        #expect(error?.url == "http://h/")
        #expect(!reported.utf8.contains { $0 < 0x20 || $0 == 0x7F })
    }

    @Test(arguments: [
        "Content-Length", "content-length", "TRANSFER-ENCODING", "Host", "Connection", "Keep-Alive", "Proxy-Connection",
        "TE",
        "Trailer", "Upgrade", "Expect", "HTTP2-Settings",
    ])
    func `fields that the transport sets are refused`(name: String) throws {
        #expect(throws: HTTPError.self) { try RequestFields.checked([(name, "1")], url: "") }
        var fields = HTTPFields()
        fields[try #require(HTTPField.Name(name))] = "1"
        #expect(throws: HTTPError.self) { try RequestFields.checked(fields, url: "") }
    }

    @Test func `other fields keep their order and lose spaces around their values`() throws {
        let fields = try RequestFields.checked(
            [("B", " x "), ("a", "\ty\tz"), ("B", ""), ("X-Ü".replacing("Ü", with: "U"), "ünï"), ("c", "  ")], url: "")
        #expect(fields.map(\.name.rawName) == ["B", "a", "B", "X-U", "c"])
        #expect(fields.map(\.value) == ["x", "y\tz", "", "ünï", ""])
        #expect(try RequestFields.checked(fields, url: "") == fields)
    }

    @Test func `every byte has the correct character class`() {
        for byte in UInt8.min...0x7F {
            let text = String(Unicode.Scalar(byte))
            let isName = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".contains(text)
            #expect(RequestFields.isValid(name: text) == isName, "\(byte)")
            #expect(RequestFields.isValid(value: text) == (byte == 9 || (byte >= 0x20 && byte != 0x7F)), "\(byte)")
        }
    }
}
