#if Networking
public import HTTPTypes

extension LoopbackRoute {
    /// Redirects to an address, absolute or relative.
    public static func redirect(
        _ path: String, to location: String, _ status: HTTPResponse.Status = .found
    ) -> LoopbackRoute {
        LoopbackRoute(path) { _ in .redirect(to: location, status) }
    }

    /// `path/N` redirects N times, counting down; `path/0` redirects to `location`, and without one answers itself.
    public static func redirectChain(
        _ path: String, to location: String? = nil, _ status: HTTPResponse.Status = .found
    ) -> LoopbackRoute {
        LoopbackRoute(path + "/*") { request in
            guard let left = Int(request.path.dropFirst(path.utf8.count + 1)), left >= 0 else { return .notFound }
            if left > 0 { return .redirect(to: "\(path)/\(left - 1)", status) }
            return location.map { .redirect(to: $0, status) } ?? .text("arrived")
        }
    }

    /// `path/0` to `path/(length - 1)` redirect to each other in a circle that never ends.
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
    /// A redirect to an address, which is not looked at.
    public static func redirect(to location: String, _ status: HTTPResponse.Status = .found) -> LoopbackResponse {
        LoopbackResponse(status, fields: [.location: location], body: .text("It is at \(location).\n"))
    }
}
#endif
