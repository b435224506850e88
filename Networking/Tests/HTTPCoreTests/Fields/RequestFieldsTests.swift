import HTTPCore
import HTTPTypes
import Testing

@Suite struct RequestFieldsTests {
    @Test(arguments: [
        "Content-Length", "content-length", "TRANSFER-ENCODING", "Host", "Connection", "Keep-Alive", "Proxy-Connection",
        "TE",
        "Trailer", "Upgrade", "Expect", "HTTP2-Settings", "Request-Target",
    ])
    func `fields that the transport sets are refused`(name: String) throws {
        let fields: HTTPFields = [try #require(HTTPField.Name(name)): "1"]
        let error = #expect(throws: HTTPError.self) { try RequestFields.checked(fields, url: "http://h/") }
        guard case .invalidHeader(let reported) = error?.reason else { return #expect(Bool(false)) }
        #expect(error?.url == "http://h/" && reported == name)
    }

    @Test func `other fields remain unchanged`() throws {
        let fields: HTTPFields = [.accept: "x", .cookie: "ünï"]
        #expect(try RequestFields.checked(fields, url: "") == fields)
    }

    @Test func `a value with a line break cannot add a field`() throws {
        var fields = HTTPFields()
        fields[.accept] = "x\r\nContent-Length: 1\n\0"
        #expect(fields[.accept]?.utf8.contains { $0.isControl } == false)
    }

    @Test func `every byte has the correct character class`() {
        for byte in UInt8.min...0x7F {
            let text = String(Unicode.Scalar(byte))
            let isName = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".contains(text)
            #expect(byte.isTokenByte == isName, "\(byte)")
            #expect(RequestFields.isValid(value: text) == (byte == 9 || (byte >= 0x20 && byte != 0x7F)), "\(byte)")
        }
    }
}
