#if Networking
/// Handlers by path: the first route that fits answers, else it is a 404.
public struct LoopbackRoutes: Sendable, ExpressibleByArrayLiteral {
    private var routes: [LoopbackRoute]

    public init(_ routes: [LoopbackRoute] = []) { self.routes = routes }
    public init(arrayLiteral routes: LoopbackRoute...) { self.routes = routes }

    public mutating func add(_ route: LoopbackRoute) { routes.append(route) }

    /// These routes, and then the others.
    public static func + (first: LoopbackRoutes, second: LoopbackRoutes) -> LoopbackRoutes {
        LoopbackRoutes(first.routes + second.routes)
    }

    public func answer(_ request: LoopbackRequest) async -> LoopbackResponse {
        for route in routes where route.matches(request.path) { return await route.handler(request) }
        return .notFound
    }
}
#endif
