import HTTPCore
import Testing

@Suite struct MediaTypeTests {
    @Test(arguments: [
        "", " ", "text", "text/", "/html", "text /html", "text/ html", "text/html charset=x", "text/html,",
        "te(xt/html", "ü/x", ";a=b",
    ])
    func `text that is not a type gives nil`(text: String) {
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
    func `types are parsed with their parameters`(text: String, normal: String) {
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
    func `ranges contain types`(range: String, media: String, takesIn: Bool) throws {
        let media = try #require(MediaType(media))
        #expect(try #require(MediaRange(range)).contains(media) == takesIn)
    }

    @Test(arguments: ["*", "*/json", "image/p*", "*/*+", "a*/b", "image/*png", "image/*+a*"])
    func `a partial wildcard is not a range`(text: String) {
        let range = MediaRange(text)
        #expect(range == nil || text == "a*/b" || text == "image/*+a*")
    }

    @Test func `ranges keep their text`() {
        for text in ["*/*", "image/*", "image/png", "*/*+json", "application/*+xml"] {
            #expect(MediaRange(text)?.description == text)
        }
    }
}
