package import HTTPTypes

/// A count of the bytes of a body, which detects a body that is too long or too short. Each method returns the reason
/// for a failure, or nil. The transfer ends at the first failure.
package struct BodyLength: Hashable, Sendable {
    /// The length of a body according to the head of the message.
    package enum Announcement: Hashable, Sendable {
        case length(Int64)
        /// The head announces no length. The end of the stream ends the body.
        case unknown
        /// The fields contradict each other or are not numbers, so that the end of the body is unknown.
        case invalid
    }

    /// The number of bytes on the network, before decompression. Nil if the length is unknown.
    package let expected: Int64?
    /// The maximum number of decompressed bytes in memory, or nil for no limit.
    package let memoryLimit: Int?
    package let inflation: InflationLimit
    package private(set) var received: Int64 = 0
    package private(set) var inflated: Int64 = 0

    package init(expected: Int64?, memoryLimit: Int? = nil, inflation: InflationLimit = .standard) {
        self.expected = expected
        self.memoryLimit = memoryLimit
        self.inflation = inflation
    }

    /// Checks before the first byte whether the announced length exceeds the limit. The check also applies to a
    /// compressed body, because compression rarely increases the length of a body.
    package func begin() -> HTTPError.Reason? {
        guard let memoryLimit, let expected, expected > Int64(memoryLimit) else { return nil }
        return .bodyTooLarge(limit: memoryLimit)
    }

    /// Counts bytes that are not compressed.
    package mutating func receive(_ count: Int) -> HTTPError.Reason? {
        if let reason = receiveCompressed(count) { return reason }
        return keep(count)
    }

    /// Counts compressed bytes.
    package mutating func receiveCompressed(_ count: Int) -> HTTPError.Reason? {
        received += Int64(count)
        guard let expected, received > expected else { return nil }
        return .overlong(expected: expected)
    }

    /// Counts bytes that decompression has produced from the received bytes.
    package mutating func inflate(_ count: Int) -> HTTPError.Reason? {
        guard inflation.permits(inflated + Int64(count), from: received) else { return .decompressionLimitExceeded }
        return keep(count)
    }

    /// Checks the length after the last byte.
    package func end() -> HTTPError.Reason? {
        guard let expected, received < expected else { return nil }
        return .truncated(received: received, expected: expected)
    }

    private mutating func keep(_ count: Int) -> HTTPError.Reason? {
        inflated += Int64(count)
        guard let memoryLimit, inflated > Int64(memoryLimit) else { return nil }
        return .bodyTooLarge(limit: memoryLimit)
    }

    /// Returns the announced length of a response's body. A response to HEAD and a response with status 1xx, 204 or 304
    /// has no body, even with a Content-Length.
    package static func announced(by response: HTTPResponse, to method: HTTPRequest.Method) -> Announcement {
        let status = response.status.code
        if method == .head || status / 100 == 1 || status == 204 || status == 304 { return .length(0) }
        // A transfer coding has precedence over a length (RFC 9112, section 6.3).
        if response.headerFields.contains(.transferEncoding) { return .unknown }
        return contentLength(of: response.headerFields)
    }

    /// Returns the length in Content-Length. The same length may appear several times (RFC 9110, section 8.6).
    package static func contentLength(of fields: HTTPFields) -> Announcement {
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
