import FoundationEssentials
import HTTPCore
import Testing

@Suite struct FormValueTests {
    @Test(
        arguments: [
            ([:], ""), (["a": ""], "a="), (["": "a"], "a"),
            (["a": "b", "c": 1, "d": true, "e": false, "f": 1.5], "a=b&c=1&d=1&e=0&f=1.5"),
            (["z": 1, "a": 2], "z=1&a=2"), (["a": []], ""), (["a": ["x", "y"]], "a%5B%5D=x&a%5B%5D=y"),
            (["a": ["b": ["c": 1], "d": [1, 2]]], "a%5Bb%5D%5Bc%5D=1&a%5Bd%5D%5B%5D=1&a%5Bd%5D%5B%5D=2"),
            (["a": [["b": 1], ["b": 2]]], "a%5B%5D%5Bb%5D=1&a%5B%5D%5Bb%5D=2"),
            (["a&b=c": "d&e=f#?/+ "], "a%26b%3Dc=d%26e%3Df%23%3F%2F%2B%20"),
            (["ü": "日\r\n\0"], "%C3%BC=%E6%97%A5%0D%0A%00"),
            (["%41": "%"], "%2541=%25"), (["a": "-._~"], "a=-._~"), ("plain text", "plain%20text"),
        ] as [(FormValue, String)])
    func `forms are encoded in their order, nested names in brackets`(form: FormValue, text: String) {
        #expect(form.encoded == text)
        #expect(HTTPAddress("http://h/?" + text)?.query == text)
    }

    @Test func `dictionaries are sorted by name`() {
        #expect(FormValue(["b": "1", "a": "2", "C": "3"]).encoded == "C=3&a=2&b=1")
        #expect(FormValue(["b": ["y": 1], "a": [1]] as [String: FormValue]).encoded == "a%5B%5D=1&b%5By%5D=1")
    }

    @Test func `bodies have a matching type, and equal values have equal bytes`() throws {
        struct Item: Codable, Equatable { var b = "/ü", a = 1 }
        #expect(
            EncodedBody.form(["a": "b c"])
                == .init(bytes: Data("a=b%20c".utf8), contentType: "application/x-www-form-urlencoded"))
        #expect(EncodedBody.text("ü") == .init(bytes: Data("ü".utf8), contentType: "text/plain; charset=utf-8"))
        #expect(
            try EncodedBody.json(Item())
                == .init(bytes: Data(#"{"a":1,"b":"/ü"}"#.utf8), contentType: "application/json"))
        for binary in [false, true] {
            let body = try EncodedBody.propertyList(Item(), binary: binary)
            #expect(try PropertyListDecoder().decode(Item.self, from: body.bytes) == Item())
            #expect(body.bytes.starts(with: Data((binary ? "bplist" : "<?xml").utf8)))
            #expect(MediaType(body.contentType) != nil)
        }
        #expect(throws: EncodingError.self) { try EncodedBody.json([Double.nan]) }
    }
}
