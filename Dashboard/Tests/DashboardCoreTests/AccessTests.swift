import Testing

@testable import DashboardCore

@Suite struct AccessTests {
    private let access = Access(token: "secret", port: 8080)
    private let form = "application/x-www-form-urlencoded"

    private func decide(
        _ method: String = "GET", _ path: String = "/", query: String = "", _ fields: [String: String]
    ) -> Access.Decision {
        access.decide(HTTPRequest(method: method, path: path, query: query, fields: fields))
    }

    private func isRefused(_ decision: Access.Decision, _ status: HTTPStatus) -> Bool {
        if case .refuse(let found, _) = decision { found == status } else { false }
    }

    @Test func `the printed address opens the page and sets the cookie`() {
        #expect(decide(query: "token=secret", ["host": "127.0.0.1:8080"]) == .permit(setsCookie: true))
        #expect(access.cookieField.value.contains("HttpOnly; SameSite=Strict"))
    }

    @Test func `the cookie and the authorization field are enough for later requests`() {
        let host = "localhost:9000"
        #expect(
            decide("GET", "/api/state", ["host": host, "cookie": "a=b; operations-dashboard-8080=secret"])
                == .permit(setsCookie: false))
        #expect(
            decide("GET", "/api/state", ["host": host, "authorization": "Bearer secret"]) == .permit(setsCookie: false))
    }

    @Test(arguments: ["", "token=", "token=Secret", "token=secre", "token=secrets", "other=secret"])
    func `another token is refused`(_ query: String) {
        #expect(isRefused(decide(query: query, ["host": "127.0.0.1"]), .forbidden))
    }

    @Test func `the token in an address opens the page only`() {
        #expect(isRefused(decide("GET", "/api/state", query: "token=secret", ["host": "127.0.0.1"]), .forbidden))
    }

    @Test(arguments: [
        "evil.example", "127.0.0.1.evil.example", "127.0.0.1:", "127.0.0.1:80:80", "127.0.0.2", "[::1]", "0.0.0.0", "",
        "localhost.evil.example:8080", "127.0.0.1:99999",
    ])
    func `another host is refused, also with the token`(_ host: String) {
        #expect(isRefused(decide(query: "token=secret", ["host": host]), .misdirected))
    }

    @Test func `a request without a host is refused`() {
        #expect(isRefused(decide(query: "token=secret", [:]), .misdirected))
    }

    @Test(arguments: ["http://evil.example", "null", "https://127.0.0.1:8080", "http://127.0.0.1:8081", ""])
    func `another origin is refused`(_ origin: String) {
        let fields = ["host": "127.0.0.1:8080", "origin": origin, "cookie": "operations-dashboard-8080=secret"]
        #expect(isRefused(decide("GET", "/api/state", fields), .forbidden))
        #expect(isRefused(decide("POST", "/api/steer", fields), .forbidden))
    }

    @Test func `a change needs the origin of the page and the type of a form`() {
        var fields = ["host": "127.0.0.1:8080", "cookie": "operations-dashboard-8080=secret", "content-type": form]
        #expect(isRefused(decide("POST", "/api/steer", fields), .forbidden))
        fields["origin"] = "http://127.0.0.1:8080"
        #expect(decide("POST", "/api/steer", fields) == .permit(setsCookie: false))
        fields["content-type"] = "text/plain"
        #expect(isRefused(decide("POST", "/api/steer", fields), .forbidden))
    }

    @Test(arguments: ["HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "get", "PROPFIND"])
    func `another method is refused`(_ method: String) {
        #expect(isRefused(decide(method, query: "token=secret", ["host": "127.0.0.1"]), .methodNotAllowed))
    }

    @Test func `an empty token permits nothing`() {
        let open = Access(token: "", port: 1)
        let request = HTTPRequest(path: "/", query: "token=", fields: ["host": "127.0.0.1"])
        #expect(isRefused(open.decide(request), .forbidden))
    }
}
