import HTTPCore
import Testing

@Suite struct CredentialTests {
    @Test(arguments: [("a:b", "c"), ("a\n", "b"), ("a", "b\r\nX: y"), ("a", "\0"), (":", "")])
    func `Basic refuses colons in the user name and control characters`(user: String, password: String) {
        #expect(HTTPCredential.password(user: user, password: password).basicAuthorization == nil)
    }

    @Test(arguments: [
        ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="), ("test", "123£", "Basic dGVzdDoxMjPCow=="),
        ("", "", "Basic Og=="), ("a", "b:c", "Basic YTpiOmM="),
    ])
    func `Basic follows RFC 7617 in UTF-8`(user: String, password: String, value: String) {
        #expect(HTTPCredential.password(user: user, password: password).basicAuthorization == value)
        #expect(HTTPCredential.password(user: user, password: password).bearerAuthorization == nil)
    }

    @Test(arguments: ["", "a b", "a\r\nX: y", "ü", "=", "a=b", "a,b", "\"a\"", "a "])
    func `Bearer refuses invalid tokens`(token: String) {
        #expect(HTTPCredential.bearer(token).bearerAuthorization == nil)
    }

    @Test(arguments: ["a", "mF_9.B5f-4.1JqM", "abc+/~==", "1"]) func `Bearer follows RFC 6750`(token: String) {
        #expect(HTTPCredential.bearer(token).bearerAuthorization == "Bearer \(token)")
        #expect(HTTPCredential.bearer(token).basicAuthorization == nil)
    }

    @Test func `an address can contain a credential`() {
        #expect(HTTPAddress("http://u:p%40@h/")?.credential == .password(user: "u", password: "p@"))
        #expect(HTTPAddress("http://u@h/")?.credential == .password(user: "u", password: ""))
        #expect(HTTPAddress("http://h/")?.credential == nil)
    }

    @Test func `no description contains a secret`() {
        for credential in [HTTPCredential.password(user: "hidden", password: "hidden"), .bearer("hidden")] {
            var dumped = ""
            dump(credential, to: &dumped)
            #expect(!("\(credential)" + String(reflecting: credential) + dumped).contains("hidden"))
        }
    }
}
