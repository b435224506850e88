import HTTPCore
import HTTPTypes
import TestSupport
import Testing

@Suite struct AuthenticationChallengeTests {
    private func written(_ challenge: AuthenticationChallenge) -> String {
        let parameters = challenge.parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return ([challenge.scheme] + (challenge.token68.map { [$0] } ?? []) + parameters).joined(separator: "|")
    }

    @Test(
        arguments: [
            ("", []), (" ", []), (",,,", []), ("=", []), ("\"", []), ("realm=\"x\"", []), ("@@@", []),
            ("\"Basic\"", []),
            ("Basic", ["basic"]), ("Basic,", ["basic"]), (", Basic ,,", ["basic"]),
            ("BASIC realm=x", ["basic|realm=x"]),
            (#"Basic realm="a \"b\" \\ c""#, [#"basic|realm=a "b" \ c"#]),
            (#"Basic realm="a, Digest x=y""#, ["basic|realm=a, Digest x=y"]),
            (#"Basic realm="x", charset="UTF-8""#, ["basic|charset=UTF-8|realm=x"]),
            (#"Basic realm = "x" , charset ="UTF-8""#, ["basic|charset=UTF-8|realm=x"]),
            (#"Basic realm="x", Digest realm="y", nonce="z""#, ["basic|realm=x", "digest|nonce=z|realm=y"]),
            (#"Basic, Digest realm="y""#, ["basic", "digest|realm=y"]),
            ("Negotiate, NTLM, Basic realm=x", ["negotiate", "ntlm", "basic|realm=x"]),
            ("Negotiate YII-._~+/==, Basic realm=x", ["negotiate|YII-._~+/==", "basic|realm=x"]),
            ("Bearer abc", ["bearer|abc"]), ("Bearer\tabc==  ", ["bearer|abc=="]), ("Bearer abc= x", ["bearer|abc=x"]),
            (
                #"Newauth realm="apps", type=1, title="Login to \"apps\"", Basic realm="simple""#,
                [#"newauth|realm=apps|title=Login to "apps"|type=1"#, "basic|realm=simple"]
            ),
            (#"Digest realm="x", realm="y""#, ["digest|realm=x"]), (#"Basic realm="x"#, ["basic"]),
            (#"Digest a=1, realm="x, Basic realm=y"#, ["digest|a=1"]), ("Digest nonce=, a=1", ["digest|nonce=|a=1"]),
            ("Basic realm=x y=z, w=v", ["basic|realm=x|w=v"]), ("Basic realm=ü, Digest a=b", ["basic", "digest|a=b"]),
            (#"Basic realm="ü""#, ["basic|realm=ü"]), (#"Basic realm="""#, ["basic|realm="]), ("(), Basic", ["basic"]),
        ] as [(String, [String])])
    func `challenges are parsed, and invalid text is skipped`(line: String, expected: [String]) {
        #expect(AuthenticationChallenge.parse(line).map(written) == expected)
    }

    @Test func `several lines form one list`() {
        var fields = HTTPFields()
        fields[values: .wwwAuthenticate] = [#"Digest realm="a", nonce="b""#, "Basic realm=c, Bearer"]
        #expect(
            AuthenticationChallenge.all(in: fields, .wwwAuthenticate).map(\.scheme) == ["digest", "basic", "bearer"])
        #expect(AuthenticationChallenge.all(in: fields, .proxyAuthenticate).isEmpty)
    }

    @Test(arguments: 0..<300 as Range<UInt64>)
    func `every input is read to its end`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let pieces = ["Basic", "Digest", " ", ",", "=", "\"", "\\", "realm", "\t", ";", "ü", "abc", "==", "\"x\"", "/"]
        let line = (0..<random.below(60)).map { _ in random.pick(pieces) }.joined()
        for challenge in AuthenticationChallenge.parse(line) { #expect(!challenge.scheme.isEmpty) }
    }

    @Test(.timeLimit(.minutes(1)), arguments: ["\"\\", "\"", "Basic ", "a=\"\\\"", ",", "a=", "\\\""])
    func `hostile lines take no longer than other lines`(piece: String) {
        _ = AuthenticationChallenge.parse(String(repeating: piece, count: 20_000))
    }
}
