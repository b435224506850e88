/// The status of a response.
package enum HTTPStatus: Int, Sendable {
    case ok = 200
    case badRequest = 400
    case forbidden = 403
    case notFound = 404
    case methodNotAllowed = 405
    case conflict = 409
    case contentTooLarge = 413
    case expectationFailed = 417
    case misdirected = 421
    case fieldsTooLarge = 431
    case internalError = 500
    case notImplemented = 501
    case unavailable = 503
    case versionNotSupported = 505

    package var reason: String {
        switch self {
        case .ok: "OK"
        case .badRequest: "Bad Request"
        case .forbidden: "Forbidden"
        case .notFound: "Not Found"
        case .methodNotAllowed: "Method Not Allowed"
        case .conflict: "Conflict"
        case .contentTooLarge: "Content Too Large"
        case .expectationFailed: "Expectation Failed"
        case .misdirected: "Misdirected Request"
        case .fieldsTooLarge: "Request Header Fields Too Large"
        case .internalError: "Internal Server Error"
        case .notImplemented: "Not Implemented"
        case .unavailable: "Service Unavailable"
        case .versionNotSupported: "HTTP Version Not Supported"
        }
    }
}

/// A response.
package struct HTTPResponse: Sendable {
    package var status: HTTPStatus
    package var type: String
    package var fields: [(name: String, value: String)] = []
    package var body: [UInt8]
    /// Whether the response is a stream of events that begins with `body` and has no length.
    package var isStream = false

    package init(_ status: HTTPStatus, type: String, body: some Sequence<UInt8>) {
        (self.status, self.type, self.body) = (status, type, Array(body))
    }

    /// A response with a sentence for a person.
    package static func message(_ status: HTTPStatus, _ text: String) -> HTTPResponse {
        HTTPResponse(status, type: "text/plain; charset=utf-8", body: (text + "\n").utf8)
    }

    package static func json(_ value: JSON) -> HTTPResponse {
        HTTPResponse(.ok, type: "application/json; charset=utf-8", body: value.bytes)
    }

    /// The policies of each response. The page loads only its own two files, and no other page can embed it.
    package static let policies: KeyValuePairs<String, String> = [
        "Content-Security-Policy":
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
            + "form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
        "Cache-Control": "no-store",
    ]

    /// The bytes of the response.
    package func bytes(keepsAlive: Bool) -> [UInt8] {
        var head = "HTTP/1.1 \(status.rawValue) \(status.reason)\r\nContent-Type: \(type)\r\n"
        for (name, value) in Self.policies { head += "\(name): \(value)\r\n" }
        for (name, value) in fields { head += "\(name): \(value)\r\n" }
        if !isStream { head += "Content-Length: \(body.count)\r\n" }
        head += "Connection: \(keepsAlive && !isStream ? "keep-alive" : "close")\r\n\r\n"
        return Array(head.utf8) + body
    }
}
