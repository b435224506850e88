/// A list of routes. The first route that matches the path answers a request. Without a match the response is 404.
public struct LoopbackRoutes: Sendable, ExpressibleByArrayLiteral {
    private var routes: [LoopbackRoute]

    /// Creates a list of routes.
    public init(_ routes: [LoopbackRoute] = []) { self.routes = routes }
    /// Creates a list of routes.
    public init(arrayLiteral routes: LoopbackRoute...) { self.routes = routes }

    /// Adds a route at the end of the list.
    public mutating func add(_ route: LoopbackRoute) { routes.append(route) }

    /// Returns the routes of `first`, followed by the routes of `second`.
    public static func + (first: LoopbackRoutes, second: LoopbackRoutes) -> LoopbackRoutes {
        LoopbackRoutes(first.routes + second.routes)
    }

    /// Returns the response of the first matching route, or a 404.
    public func answer(_ request: LoopbackRequest) async -> LoopbackResponse {
        for route in routes where route.matches(request.path) { return await route.handler(request) }
        return .notFound
    }
}
