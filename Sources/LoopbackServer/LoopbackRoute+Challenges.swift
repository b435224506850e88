#if Networking
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import HTTPTypes

extension LoopbackRoute {
    /// Asks for a name and a password, and answers what `route` does to whoever has them (RFC 7617).
    public static func basic(
        realm: String = "loopback", user: String, password: String, then route: LoopbackRoute
    ) -> LoopbackRoute {
        guarded(route, by: ["Basic realm=\"\(realm)\", charset=\"UTF-8\""]) { request in
            request.fields.credentials(of: "basic") == Data("\(user):\(password)".utf8).base64EncodedString()
        }
    }

    /// Asks for a token, and answers what `route` does to whoever has it (RFC 6750).
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

    /// Asks for a digest of name, password and request, and answers what `route` does to whoever has it (RFC 7616).
    ///
    /// - Parameters:
    ///   - algorithms: offered in this order, a challenge each.
    ///   - usesPerNonce: after so many requests a nonce is stale, and the client is to come again with another at once.
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

    /// Asks for credentials and is content with none.
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
    /// A 401 with a `WWW-Authenticate` field for each challenge.
    public static func unauthorized(_ challenges: [String]) -> LoopbackResponse {
        var fields: HTTPFields = [.contentType: "text/plain; charset=utf-8"]
        for challenge in challenges { fields.append(HTTPField(name: .wwwAuthenticate, value: challenge)) }
        return LoopbackResponse(.unauthorized, fields: fields, body: .text("Who are you?\n"))
    }
}
#endif
