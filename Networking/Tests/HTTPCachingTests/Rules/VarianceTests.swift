import HTTPCaching
import HTTPTypes
import Testing

@Suite struct VarianceTests {
    private func key(_ vary: [String], _ request: String...) -> String? {
        Variance(of: fields(vary.map { "Vary: \($0)" })).secondaryKey(of: fields(request))
    }

    @Test func `without Vary and credentials the request's fields do not matter`() {
        #expect(key([], "Accept: a", "Cookie: b") == "")
        #expect(key(["", " , "], "Accept: a") == "")
    }

    @Test(arguments: ["*", " * ", "Accept, *", "*,Accept"])
    func `a star matches no request`(vary: String) { #expect(key([vary], "Accept: a") == nil) }

    @Test(
        arguments: [
            (["Accept"], ["Accept: a"], ["Accept: b"], false),
            (["Accept"], ["Accept: a"], ["ACCEPT: a", "X-Other: 1"], true),
            (["Accept"], ["Accept: a,b"], ["Accept: a ,  b"], true),
            (["Accept"], ["Accept: a", "Accept: b"], ["Accept: a, b"], true),
            (["Accept"], ["Accept: a, b"], ["Accept: b, a"], false),
            (["Accept"], ["Accept: A"], ["Accept: a"], false),
            (["Accept"], [], ["Accept: "], false),
            (["Accept"], [], ["X-Other: 1"], true),
            (["Accept"], [], ["Accept: a"], false),
            (["not a token", "Accept"], ["Accept: a"], ["Accept: a"], true),
            (["X-A, X-B"], ["X-A: 1", "X-B: 2"], ["X-A: 2", "X-B: 1"], false),
        ] as [([String], [String], [String], Bool)])
    func `requests match if they agree in the fields of Vary`(
        vary: [String], first: [String], second: [String], isSame: Bool
    ) {
        let variance = Variance(of: fields(vary.map { "Vary: \($0)" }))
        #expect((variance.secondaryKey(of: fields(first)) == variance.secondaryKey(of: fields(second))) == isSame)
    }

    @Test func `the order, case and repetition of names do not matter`() {
        let request = ["Accept: a", "Accept-Language: de"]
        let keys = [["Accept, Accept-Language"], ["accept-language", "ACCEPT"], ["Accept,Accept,accept-language"]]
            .map { Variance(of: fields($0.map { "Vary: \($0)" })).secondaryKey(of: fields(request)) }
        #expect(Set(keys).count == 1)
    }

    @Test func `a response to a request with credentials serves these credentials only, and the key hides them`() throws
    {
        let one = try #require(key([], "Authorization: Bearer secret"))
        #expect(one != key([], "Authorization: Bearer other") && one != key([]))
        #expect(one == key(["Authorization"], "Authorization: Bearer secret"))
        #expect(!one.contains("secret") && one.count == 64)
    }
}
