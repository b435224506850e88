import HTTPCore
import Testing

@Suite struct ReferenceTests {
    /// The examples of RFC 3986, sections 5.4.1 and 5.4.2. The result is nil for an address that is not HTTP. The
    /// parser is strict about `http:g`.
    static let table: [(String, String?)] = [
        ("g:h", nil), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q#s"),
        ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"),
        ("g;x", "http://a/b/c/g;x"),
        ("g;x?y#s", "http://a/b/c/g;x?y#s"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"),
        ("./", "http://a/b/c/"),
        ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"),
        ("../../", "http://a/"), ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"),
        ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", nil),
    ]

    @Test(arguments: table) func `references resolve as in RFC 3986`(reference: String, result: String?) throws {
        let base = try #require(HTTPAddress("http://a/b/c/d;p?q"))
        #expect(base.resolving(reference)?.description == result)
    }

    @Test(
        arguments: [
            ("//u:p@other/x", "http://other/x"), ("https://other", "https://other/"),
            ("HTTP://other:80", "http://other/"),
            ("//other:99999", nil), ("///path", nil), ("mailto:a@b", nil), ("javascript:alert(1)", nil),
            ("http://", nil),
            ("a\r\nb", nil), ("//a\\@b/", nil), ("\\\\evil.example/", "http://host/%5C%5Cevil.example/"),
            ("a:b", nil), ("./a:b", "http://host/a:b"), ("/ü", "http://host/%C3%BC"), (" /x ", "http://host/x"),
        ] as [(String, String?)])
    func `locations of servers resolve to HTTP addresses or to nil`(reference: String, result: String?) throws {
        let base = try #require(HTTPAddress("http://host"))
        #expect(base.resolving(reference)?.description == result)
    }

    @Test func `a relative reference keeps user name and password, a reference with a host does not`() throws {
        let base = try #require(HTTPAddress("http://u:p@host/a"))
        #expect(base.resolving("b")?.textWithCredentials == "http://u:p@host/b")
        #expect(base.resolving("//host/b")?.textWithCredentials == "http://host/b")
    }
}
