import FoundationEssentials
import HTTPCore
import Testing

@Suite struct HTTPAddressTests {
    @Test(arguments: [
        "", " ", "http", "http:", "http:/", "http://", "http:///", "https:///path", "//host/", "/path", "host",
        "host:80",
        "http:host", "ftp://host/", "file:///etc/passwd", "data:,x", "javascript:alert(1)", "httpx://host/",
        "1http://host/",
        "http://:80/", "http://@/", "http://user@/", "http://user@:80/",
        // Ports.
        "http://host:0/", "http://host:65536/", "http://host:-1/", "http://host:+1/", "http://host:a/",
        "http://host:80:80/",
        "http://host:99999999999999999999/", "http://host: 80/", "http://host:８0/",
        // Line breaks and other control characters.
        "http://host/a\r\nX: y", "http://host/\n", "http://ho\tst/", "http://host/\0", "http://host/\u{7F}",
        "\nhttp://host/",
        // Hosts that different programs interpret in different ways.
        "http://a b/", "http://a%2eb/", "http://host%00/", "http://höst/", "http://ｈost/", "http://a..b/",
        "http://.host/",
        "http://host../", "http://./", "http://a_b!/", "http://a,b/", "http://a'b/", "http://a<b/", "http://a|b/",
        "http://1.2.3/", "http://1.2.3.4.5/", "http://256.1.1.1/", "http://01.2.3.4/", "http://0x7f.1/",
        "http://0x7f000001/",
        "http://2130706433/", "http://1.2.3.4./", "http://host.1/",
        "http://good.example\\@evil.example/", "http://good.example\\evil.example/", "http://a@b@c/", "http://a@b:c@d/",
        "http://user:%FF@host/",
        // IPv6.
        "http://[]/", "http://[::1/", "http://::1/", "http://[::1]x/", "http://[1::2::3]/", "http://[1:2:3:4:5:6:7]/",
        "http://[1:2:3:4:5:6:7:8:9]/", "http://[1:2:3:4:5:6:7:8::]/", "http://[12345::]/", "http://[g::]/",
        "http://[:1::2]/",
        "http://[1:::2]/", "http://[fe80::1%25eth0]/", "http://[fe80::1%eth0]/", "http://[::1.2.3]/",
        "http://[::1.2.3.4.5]/",
        "http://[1.2.3.4::]/", "http://[::01.2.3.4]/", "http://[:]/", "http://[:::]/", "http://[v1.x]/",
        "http://[::1]]/",
    ])
    func `text that is not an absolute http or https URL is refused`(text: String) {
        #expect(HTTPAddress(text) == nil)
    }

    @Test func `labels and names that are too long are refused`() {
        let label = String(repeating: "a", count: 63)
        #expect(HTTPAddress("http://\(label)/") != nil)
        #expect(HTTPAddress("http://a\(label)/") == nil)
        #expect(HTTPAddress("http://\(label).\(label).\(label).\(label)a/") == nil)
    }

    @Test(arguments: [
        ("http://host", "http://host/"),
        ("  HTTP://HOST:80/ ", "http://host/"),
        ("https://Host:443", "https://host/"),
        ("https://host:80/", "https://host:80/"),
        ("http://host:/", "http://host/"),
        ("http://host:0080/", "http://host/"),
        ("http://host.:8080/a", "http://host.:8080/a"),
        ("http://host?q", "http://host/?q"),
        ("http://host#f", "http://host/#f"),
        ("http://host/?", "http://host/?"),
        ("http://host/#", "http://host/#"),
        ("http://host?a=b?c#d?e#f", "http://host/?a=b?c#d?e%23f"),
        ("http://my_host-1.example/", "http://my_host-1.example/"),
        ("http://127.0.0.1:8080/x", "http://127.0.0.1:8080/x"),
        ("http://[::1]:8080/x", "http://[::1]:8080/x"),
        ("http://[0:0:0:0:0:0:0:0]/", "http://[::]/"),
        ("http://[2001:DB8:0:0:1:0:0:1]/", "http://[2001:db8::1:0:0:1]/"),
        ("http://[1:2:3:4:5:6:7::]/", "http://[1:2:3:4:5:6:7:0]/"),
        ("http://[::2:3:4:5:6:7:8]/", "http://[0:2:3:4:5:6:7:8]/"),
        ("http://[::ffff:1.2.3.4]/", "http://[::ffff:102:304]/"),
        // Paths and queries.
        ("http://host/a b/ü", "http://host/a%20b/%C3%BC"),
        ("http://host/%zz%41%2f%", "http://host/%zz%41%2f%"),
        ("http://host/a\\b[c]{d}|^`\"<>", "http://host/a%5Cb%5Bc%5D%7Bd%7D%7C%5E%60%22%3C%3E"),
        ("http://host/!$&'()*+,;=:@~-._", "http://host/!$&'()*+,;=:@~-._"),
        ("http://host/?a[]=ü b/c?d", "http://host/?a%5B%5D=%C3%BC%20b/c?d"),
        ("http://host/a/./b/../c/%2e%2E/d/.", "http://host/a/d/"),
        ("http://host/../../..", "http://host/"),
        ("http://host//a//b", "http://host//a//b"),
        ("http://host/...", "http://host/..."),
        ("http://host/%2e%2e%2e", "http://host/%2e%2e%2e"),
    ])
    func `addresses are normalized, and normal forms stay unchanged`(text: String, normal: String) throws {
        let address = try #require(HTTPAddress(text))
        #expect(address.description == normal)
        #expect(HTTPAddress(normal) == address)
    }

    @Test func `bytes that are not UTF-8 are encoded one by one`() throws {
        let address = try #require(HTTPAddress(bytes: Array("http://host/".utf8) + [0xFC, 0x80]))
        #expect(address.path == "/%FC%80")
        #expect(HTTPAddress(bytes: Array("http://h".utf8) + [0xFC] + Array("/".utf8)) == nil)
    }

    @Test(
        arguments: [
            ("http://user:pass@host/", "user", "pass"), ("http://user@host/", "user", nil),
            ("http://user:@host/", "user", ""),
            ("http://:pass@host/", "", "pass"), ("http://@host/", nil, nil), ("http://a:b:c@host/", "a", "b:c"),
            ("http://%C3%BC%40:%3A%2F@host/", "ü@", ":/"),
        ] as [(String, String?, String?)])
    func `user name and password are split off and decoded`(text: String, user: String?, password: String?) throws {
        let address = try #require(HTTPAddress(text))
        #expect(address.user == user)
        #expect(address.password == password)
        #expect(address.description == "http://host/")
        #expect("\(address)" + String(reflecting: address) == "http://host/http://host/")
        var dumped = ""
        dump(address, to: &dumped)
        if let password, password.count > 2 { #expect(!dumped.contains(password)) }
        #expect(HTTPAddress(address.textWithCredentials) == address)
        #expect(address.withoutCredentials.textWithCredentials == "http://host/")
    }

    @Test(arguments: [
        ("http://a/", "http://A:80/x", true), ("http://a/", "https://a/", false),
        ("http://a/", "http://a:8080/", false),
        ("http://a/", "http://a./", false), ("http://a/", "http://b/", false), ("http://u@a/", "http://a/", true),
        ("https://a:443/", "https://a/", true), ("http://a:443/", "https://a/", false),
        ("http://[::1]/", "http://[0:0::1]/", true), ("http://www.a/", "http://a/", false),
    ])
    func `an origin is scheme, host and port`(one: String, other: String, same: Bool) throws {
        let (one, other) = (try #require(HTTPAddress(one)), try #require(HTTPAddress(other)))
        #expect((one.origin == other.origin) == same)
    }

    @Test func `the request's target has path and query, and the field Host has host and port`() throws {
        let address = try #require(HTTPAddress("http://u:p@host:8080/a?b=c#d"))
        #expect(address.requestTarget == "/a?b=c")
        #expect(address.origin.authority == "host:8080")
        #expect(address.withoutFragment.description == "http://host:8080/a?b=c")
    }

    @Test func `an address is encoded with its password and decoded again, and invalid text is refused`() throws {
        let address = try #require(HTTPAddress("http://u:p@host/a?b#c"))
        let saved = try JSONEncoder().encode([address])
        #expect(try JSONDecoder().decode([HTTPAddress].self, from: saved) == [address])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([HTTPAddress].self, from: Data(#"["ftp://x"]"#.utf8))
        }
    }

    @Test(arguments: [
        ("ftp://user:secret@host/file", "ftp://host/file"), ("http://user:secret@a@host/", "http://host/"),
        ("http://user:sec?ret@host\u{7F}/", "http://host/"), ("user:secret@host", "host"),
        ("http://user:secret@host/ok", "http://host/ok"), ("http://x\r\ny", "http://xy"),
        ("ftp://u:secret@\u{301}host", "ftp://\u{301}host"), ("", ""),
    ])
    func `invalid addresses are reported without password and line breaks`(text: String, redacted: String) {
        #expect(HTTPAddress.redacted(text) == redacted)
    }

    @Test func `reported addresses have a maximum length`() {
        #expect(HTTPAddress.redacted("ftp://" + String(repeating: "x", count: 100_000)).count == 2000)
        #expect(HTTPAddress.redacted("http://h/" + String(repeating: "x", count: 100_000)).count == 2000)
    }
}
