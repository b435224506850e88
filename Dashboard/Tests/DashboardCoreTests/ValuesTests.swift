import Testing

@testable import DashboardCore

@Suite struct FormTests {
    @Test func `a form is decoded, and incomplete escapes stay`() {
        let form = Form("a=1&b=two+words&c=%41%zz%4&a=2&=x&d")
        #expect(form["a"] == "1" && form["b"] == "two words" && form["c"] == "A%zz%4" && form["d"] == "")
        #expect(form["e"] == nil)
    }
}

@Suite struct JSONTests {
    @Test func `text of any kind is one line, and has no tag`() {
        let value = JSON.text("</script>\u{0}\n\"\\&é\u{2028}")
        let text = String(decoding: value.bytes, as: UTF8.self)
        #expect(text == #""\u003c/script\u003e\u0000\u000a\"\\\u0026é"# + "\u{2028}\"")
    }

    @Test func `numbers are finite`() {
        let list = JSON.list([
            .number(-3), .decimal(0.12345), .decimal(.nan), .decimal(.infinity), .null, .boolean(true),
        ])
        #expect(String(decoding: list.bytes, as: UTF8.self) == "[-3,0.123,null,null,null,true]")
        #expect(JSON.members(["a": .number(1)])["a"] == .number(1))
    }
}

@Suite struct ShortTextTests {
    @Test func `a long name is cut, and a short one stays`() {
        #expect(ShortText.cut("abc", to: 3) == "abc" && ShortText.cut("abcd", to: 3) == "abc…")
    }

    @Test func `a character with a million marks is cut too, at a whole scalar`() {
        let text = "e" + String(repeating: "\u{301}", count: 1_000_000)
        #expect(ShortText.cut(text, to: 10).utf8.count <= 84)
        #expect(!ShortText.cut(text, to: 10).unicodeScalars.contains("\u{FFFD}"))
    }
}

@Suite struct HTTPResponseTests {
    @Test func `each response has the policies, and its length`() {
        let text = String(decoding: HTTPResponse.message(.forbidden, "No.").bytes(keepsAlive: true), as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 403 Forbidden\r\n") && text.hasSuffix("\r\n\r\nNo.\n"))
        #expect(text.contains("Content-Security-Policy: default-src 'none'; script-src 'self';"))
        #expect(text.contains("Content-Length: 4\r\n") && text.contains("Connection: keep-alive\r\n"))
        #expect(!text.contains("unsafe-inline") && text.contains("X-Content-Type-Options: nosniff"))
    }

    @Test func `a stream has no length`() {
        var response = HTTPResponse(.ok, type: "text/event-stream", body: EventFrames.beginning)
        response.isStream = true
        let text = String(decoding: response.bytes(keepsAlive: true), as: UTF8.self)
        #expect(!text.contains("Content-Length") && text.contains("Connection: close"))
    }
}
