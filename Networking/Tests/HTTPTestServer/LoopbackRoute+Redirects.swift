public import HTTPTypes

extension LoopbackRoute {
    /// Returns a route that redirects to an absolute or relative address.
    public static func redirect(
        _ path: String, to location: String, _ status: HTTPResponse.Status = .found
    ) -> LoopbackRoute {
        LoopbackRoute(path) { _ in .redirect(to: location, status) }
    }

    /// Returns a route for `path/N`, which redirects N times and decrements the number each time. `path/0` redirects to
    /// `location`, or answers with a text if `location` is nil.
    public static func redirectChain(
        _ path: String, to location: String? = nil, _ status: HTTPResponse.Status = .found
    ) -> LoopbackRoute {
        LoopbackRoute(path + "/*") { request in
            guard let left = Int(request.path.dropFirst(path.utf8.count + 1)), left >= 0 else { return .notFound }
            if left > 0 { return .redirect(to: "\(path)/\(left - 1)", status) }
            return location.map { .redirect(to: $0, status) } ?? .text("arrived")
        }
    }

    /// Returns a route for `path/0` to `path/(length - 1)`, which redirect to each other in an endless loop.
    public static func redirectLoop(
        _ path: String, length: Int = 2, _ status: HTTPResponse.Status = .found
    ) -> LoopbackRoute {
        LoopbackRoute(path + "/*") { request in
            guard let place = Int(request.path.dropFirst(path.utf8.count + 1)), 0..<max(1, length) ~= place else {
                return .notFound
            }
            return .redirect(to: "\(path)/\((place + 1) % max(1, length))", status)
        }
    }
}

extension LoopbackResponse {
    /// Returns a redirect to an address. The method does not check the address.
    public static func redirect(to location: String, _ status: HTTPResponse.Status = .found) -> LoopbackResponse {
        LoopbackResponse(status, fields: [.location: location], body: .text("The resource is at \(location).\n"))
    }
}
