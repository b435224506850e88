#if Networking
import HTTPCore
import Testing

@Suite struct MediaTypeTests {
    @Test(arguments: [
        "", " ", "text", "text/", "/html", "text /html", "text/ html", "text/html charset=x", "text/html,",
        "te(xt/html", "ü/x", ";a=b",
    ])
    func `what is no type is none`(text: String) {
        #expect(MediaType(text) == nil)
        #expect(MediaRange(text) == nil)
    }

    @Test(arguments: [
        ("Text/HTML", "text/html"), (" text/html ; charset=UTF-8", "text/html; charset=UTF-8"),
        (#"text/html;charset="utf-8";Q=1"#, "text/html; charset=utf-8; q=1"), ("text/html;", "text/html"),
        ("text/html;;a=b;", "text/html; a=b"),
        ("text/html; nonsense; a=b", "text/html; a=b"), ("text/html; a=b; A=c", "text/html; a=b"),
        (#"multipart/form-data; boundary="a;b\"c""#, #"multipart/form-data; boundary="a;b\"c""#),
        (#"a/b; c="""#, #"a/b; c="""#),
        ("application/ld+json", "application/ld+json"),
    ])
    func `types are read with their parameters`(text: String, normal: String) {
        #expect(MediaType(text)?.description == normal)
        #expect(MediaType(normal)?.description == normal)
    }

    @Test(arguments: [
        ("*/*", "a/b", true), ("image/*", "image/png", true), ("image/*", "text/png", false),
        ("image/png", "IMAGE/PNG;q=1", true),
        ("image/png", "image/jpeg", false), ("*/*+json", "application/ld+json", true),
        ("*/*+json", "application/json", true),
        ("*/*+json", "application/jsonp", false), ("*/*+json", "application/xjson", false),
        ("application/*+json", "image/x+json", false),
        ("Image/PNG", "image/png", true), ("text/html;q=0.5", "text/html", true),
    ])
    func `ranges take in types`(range: String, media: String, takesIn: Bool) throws {
        let media = try #require(MediaType(media))
        #expect(try #require(MediaRange(range)).contains(media) == takesIn)
    }

    @Test(arguments: ["*", "*/json", "image/p*", "*/*+", "a*/b", "image/*png", "image/*+a*"])
    func `half a star is no range`(text: String) {
        let range = MediaRange(text)
        #expect(range == nil || text == "a*/b" || text == "image/*+a*")
    }

    @Test func `ranges are written as they are read`() {
        for text in ["*/*", "image/*", "image/png", "*/*+json", "application/*+xml"] {
            #expect(MediaRange(text)?.description == text)
        }
    }
}

@Suite struct CharsetTests {
    @Test(
        arguments: [
            ("text/plain", .utf8), ("text/plain; charset=\"UTF-8\"", .utf8),
            ("text/plain; charset=ISO-8859-1", .latin1),
            ("text/plain; charset=US-ASCII", .usASCII), ("text/plain; charset=windows-1252", .windows1252),
            ("text/plain; charset=cp1252", .windows1252), ("text/plain; charset=UTF-16", .utf16),
            ("text/plain; charset=utf-16be", .utf16BigEndian),
            ("text/plain; charset=UTF-16LE", .utf16LittleEndian), ("text/plain; charset=koi8-r", .utf8),
            ("text/plain; charset=", .utf8),
            ("text/plain; charset=\"", .utf8), ("nonsense", .utf8),
        ] as [(String, Charset)])
    func `the charset is the header's, else UTF-8`(type: String, charset: Charset) {
        #expect(Charset(of: MediaType(type)) == charset)
    }

    @Test(
        arguments: [
            (.utf8, [0x61, 0xC3, 0xBC], "aü"), (.utf8, [0xEF, 0xBB, 0xBF, 0x61], "a"),
            (.utf8, [0x61, 0xFF, 0x62], "a\u{FFFD}b"),
            (.utf8, [0xC3], "\u{FFFD}"), (.usASCII, [0x61, 0x80, 0xFF], "a\u{FFFD}\u{FFFD}"),
            (.latin1, [0x61, 0x80, 0xFC], "a\u{80}ü"),
            (.windows1252, [0x80, 0x81, 0x9F, 0xA0, 0xFC], "€\u{81}Ÿ\u{A0}ü"),
            (.utf16, [0xFF, 0xFE, 0x61, 0x00], "a"), (.utf16, [0xFE, 0xFF, 0x00, 0x61], "a"),
            (.utf16, [0x61, 0x00], "a"),
            (.utf16BigEndian, [0x00, 0x61, 0xD8, 0x3D, 0xDE, 0x00], "a😀"),
            (.utf16LittleEndian, [0x61, 0x00, 0x3D, 0xD8, 0x00, 0xDE], "a😀"),
            (.utf16LittleEndian, [0xFF, 0xFE, 0x61, 0x00], "a"), (.utf16BigEndian, [0xD8, 0x3D], "\u{FFFD}"),
            (.utf16LittleEndian, [0x61, 0x00, 0x62], "a\u{FFFD}"), (.utf16, [0x61], "\u{FFFD}"),
            (.utf16, [0xFE, 0xFF], ""),
        ] as [(Charset, [UInt8], String)])
    func `bytes are read, and what is not valid is replaced`(charset: Charset, bytes: [UInt8], text: String) {
        #expect(charset.text(bytes) == text)
    }

    @Test(arguments: Charset.allCases) func `nothing is nothing, and all bytes are read`(charset: Charset) {
        #expect(charset.text([]) == "")
        #expect(!charset.text(0...255).isEmpty)
        #expect(Charset(name: charset.rawValue.uppercased()) == charset)
    }

    @Test func `windows-1252 differs from Latin-1 in 27 places`() {
        let differing = (0...255 as ClosedRange<UInt8>).filter {
            Charset.windows1252.text([$0]) != Charset.latin1.text([$0])
        }
        #expect(differing.count == 27 && differing.allSatisfy { 0x80..<0xA0 ~= $0 })
    }
}
#endif
