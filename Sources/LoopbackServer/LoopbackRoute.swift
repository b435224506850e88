#if Networking
/// A path and who answers there. A path that ends with `*` stands for all that begin with the rest.
public struct LoopbackRoute: Sendable {
    public let path: String
    public let handler: LoopbackServer.Handler

    public init(_ path: String, handler: @escaping LoopbackServer.Handler) {
        self.path = path
        self.handler = handler
    }

    func matches(_ path: String) -> Bool {
        self.path.last == "*" ? path.hasPrefix(self.path.dropLast()) : path == self.path
    }

    /// The same with something more that goes wrong at each answer.
    public func with(_ faults: LoopbackResponse.Fault...) -> LoopbackRoute {
        LoopbackRoute(path) { [handler] request in
            var response = await handler(request)
            response.faults += faults
            return response
        }
    }
}
#endif
