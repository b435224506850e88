package import HTTPTypes

/// The length of a body according to the head of the message.
package enum BodyLength: Hashable, Sendable {
    case length(Int64)
    /// The head announces no length. The end of the stream ends the body.
    case unknown
    /// The fields contradict each other or are not numbers, so that the end of the body is unknown.
    case invalid

    /// Returns the announced length of a response's body. A response to HEAD and a response with status 1xx, 204 or 304
    /// has no body, even with a Content-Length.
    package static func announced(by response: HTTPResponse, to method: HTTPRequest.Method) -> BodyLength {
        let status = response.status.code
        if method == .head || status / 100 == 1 || status == 204 || status == 304 { return .length(0) }
        // A transfer coding has precedence over a length (RFC 9112, section 6.3).
        if response.headerFields.contains(.transferEncoding) { return .unknown }
        return contentLength(of: response.headerFields)
    }

    /// Returns the length in Content-Length. The same length may appear several times (RFC 9110, section 8.6).
    package static func contentLength(of fields: HTTPFields) -> BodyLength {
        // `HTTPFields` joins several fields of the same name with commas.
        guard let value = fields[.contentLength] else { return .unknown }
        var scanner = FieldScanner(value)
        var length: Int64?
        repeat {
            scanner.skipSpace()
            guard let number = scanner.digits().flatMap({ Int64($0) }), length ?? number == number else {
                return .invalid
            }
            length = number
            scanner.skipSpace()
        } while scanner.take(",")
        guard let length, scanner.isAtEnd else { return .invalid }
        return .length(length)
    }
}
