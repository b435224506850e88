import Testing

@testable import DashboardCore

@Suite struct RouteTests {
    private func steer(_ body: String) -> Result<Route, HTTPStatus> {
        Route.of(HTTPRequest(method: "POST", path: "/api/steer", body: Array(body.utf8)))
    }

    @Test func `a query has bounded values, and its escapes are decoded`() {
        let request = HTTPRequest(path: "/api/operations", query: "source=s1&state=ready&text=a%20b%2Bc&cursor=-5")
        #expect(
            Route.of(request)
                == .success(.operations(source: "s1", OperationSearch(state: "ready", text: "a b+c", cursor: 0))))
        #expect(
            Route.of(HTTPRequest(path: "/api/timeline", query: "source=s&seconds=999999999"))
                == .success(.timeline(source: "s", seconds: 86_400)))
    }

    @Test func `an unknown path is not found, and a wrong number is an error`() {
        #expect(Route.of(HTTPRequest(path: "/../etc/passwd")) == .failure(.notFound))
        #expect(Route.of(HTTPRequest(path: "/api/operation", query: "id=x")) == .failure(.badRequest))
        #expect(Route.of(HTTPRequest(path: "/api/steer")) == .failure(.methodNotAllowed))
        #expect(Route.of(HTTPRequest(method: "POST", path: "/")) == .failure(.methodNotAllowed))
    }

    @Test func `each command has its form`() {
        #expect(steer("source=s0&action=suspend") == .success(.steer(source: "s0", .suspend(queue: ""))))
        #expect(
            steer("source=s0&action=limit&value=3&queue=q") == .success(.steer(source: "s0", .limit(queue: "q", 3))))
        #expect(steer("source=s0&action=cancel&ids=1,2") == .success(.steer(source: "s0", .cancel([1, 2]))))
        #expect(steer("source=s0&action=priority&ids=1&value=-2") == .success(.steer(source: "s0", .priority([1], -2))))
        #expect(
            steer("source=s0&action=move&ids=1&value=slow") == .success(.steer(source: "s0", .move([1], queue: "slow")))
        )
    }

    @Test(arguments: [
        "", "source=s0", "source=s0&action=explode", "source=s0&action=cancel&ids=", "source=s0&action=cancel&ids=1,x",
        "source=s0&action=limit&value=1e9", "source=s0&action=limit&value=-7",
        "source=s0&action=priority&ids=1&value=3",
        "source=s0&action=move&ids=1&value=",
    ])
    func `a command with a doubt is an error`(_ body: String) {
        #expect(steer(body) == .failure(.badRequest))
    }

    @Test func `a command has at most 200 operations`() {
        let ids = (0...Command.selectionLimit).map(String.init).joined(separator: ",")
        #expect(steer("source=s0&action=cancel&ids=\(ids)") == .failure(.badRequest))
    }

    @Test func `a search ignores case, and reads only the beginning of a name`() {
        let query = OperationSearch(text: "Page")
        #expect(query.matches("the PAGE 7") && !query.matches("the image"))
        #expect(!query.matches(String(repeating: "x", count: 2000) + "page"))
    }
}
