#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import HTTPTypes

extension LoopbackRoute {
    /// Returns a route that requires a user name and a password (RFC 7617). A request with the correct credentials gets
    /// the response of `route`.
    public static func basic(
        realm: String = "loopback", user: String, password: String, then route: LoopbackRoute
    ) -> LoopbackRoute {
        guarded(route, by: ["Basic realm=\"\(realm)\", charset=\"UTF-8\""]) { request in
            request.fields.credentials(of: "basic") == Data("\(user):\(password)".utf8).base64EncodedString()
        }
    }

    /// Returns a route that requires a bearer token (RFC 6750). A request with the token gets the response of `route`.
    public static func bearer(
        realm: String = "loopback", token: String, then route: LoopbackRoute
    ) -> LoopbackRoute {
        LoopbackRoute(route.path) { request in
            let offered = request.fields.credentials(of: "bearer")
            if offered == token { return await route.handler(request) }
            let reason = offered == nil ? "" : ", error=\"invalid_token\""
            return .unauthorized(["Bearer realm=\"\(realm)\"\(reason)"])
        }
    }

    /// Returns a route that requires digest authentication (RFC 7616). A request with a correct digest gets the
    /// response of `route`.
    ///
    /// - Parameters:
    ///   - algorithms: The algorithms of the challenges, in this order.
    ///   - usesPerNonce: The number of requests after which a nonce is stale. The server then sends a challenge with a
    ///     new nonce.
    public static func digest(
        realm: String = "loopback", user: String, password: String, algorithms: [LoopbackDigest.Algorithm] = [.sha256],
        usesPerNonce: Int = .max, then route: LoopbackRoute
    ) -> LoopbackRoute {
        let digest = LoopbackDigest(
            realm: realm, user: user, password: password, algorithms: algorithms, usesPerNonce: usesPerNonce)
        return LoopbackRoute(route.path) { request in
            switch digest.judge(request) {
            case .accepted: await route.handler(request)
            case .refused(let challenges): .unauthorized(challenges)
            }
        }
    }

    /// Returns a route that accepts no credentials and always sends the challenges.
    public static func alwaysUnauthorized(
        _ path: String, challenges: [String] = ["Basic realm=\"loopback\""]
    ) -> LoopbackRoute {
        .always(path, .unauthorized(challenges))
    }

    private static func guarded(
        _ route: LoopbackRoute, by challenges: [String], _ isAllowed: @escaping @Sendable (LoopbackRequest) -> Bool
    ) -> LoopbackRoute {
        LoopbackRoute(route.path) { request in
            isAllowed(request) ? await route.handler(request) : .unauthorized(challenges)
        }
    }
}

extension LoopbackResponse {
    /// Returns a response with status 401 and a field `WWW-Authenticate` for each challenge.
    public static func unauthorized(_ challenges: [String]) -> LoopbackResponse {
        var fields: HTTPFields = [.contentType: "text/plain; charset=utf-8"]
        for challenge in challenges { fields.append(HTTPField(name: .wwwAuthenticate, value: challenge)) }
        return LoopbackResponse(.unauthorized, fields: fields, body: .text("Authentication is required.\n"))
    }
}
