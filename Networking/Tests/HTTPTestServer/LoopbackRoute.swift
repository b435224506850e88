/// A path and its handler. A path that ends with `*` matches all paths with the same beginning.
public struct LoopbackRoute: Sendable {
    /// The path, which can end with `*`.
    public let path: String
    /// The handler of the requests that match the path.
    public let handler: HTTPTestServer.Handler

    /// Creates a route.
    public init(_ path: String, handler: @escaping HTTPTestServer.Handler) {
        self.path = path
        self.handler = handler
    }

    func matches(_ path: String) -> Bool {
        self.path.last == "*" ? path.hasPrefix(self.path.dropLast()) : path == self.path
    }

    /// Returns the route with additional faults in each response.
    public func with(_ faults: LoopbackResponse.Fault...) -> LoopbackRoute {
        LoopbackRoute(path) { [handler] request in
            var response = await handler(request)
            response.faults += faults
            return response
        }
    }
}
