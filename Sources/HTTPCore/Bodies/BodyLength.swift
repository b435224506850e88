#if Networking
package import HTTPTypes

/// Counts the bytes of a body as they come, and says when they are too many or too few (rules R5 and R12). A plain value.
/// Each method answers what is wrong, or nil; then the transfer ends.
package struct BodyLength: Hashable, Sendable {
    /// What the head announces.
    package enum Announcement: Hashable, Sendable {
        case length(Int64)
        /// The end comes when it comes.
        case unknown
        /// The fields contradict each other, or are no numbers: nobody knows where this body ends.
        case invalid
    }

    /// As it comes from the network; nil if unknown.
    package let expected: Int64?
    /// For what is kept in memory, inflated; nil for no limit.
    package let memoryLimit: Int?
    package let inflation: InflationLimit
    package private(set) var received: Int64 = 0
    package private(set) var inflated: Int64 = 0

    package init(expected: Int64?, memoryLimit: Int? = nil, inflation: InflationLimit = .standard) {
        self.expected = expected
        self.memoryLimit = memoryLimit
        self.inflation = inflation
    }

    /// Before the first byte: whether what is announced fits. What is compressed hardly ever becomes less, so this may be
    /// asked for it too.
    package func begin() -> HTTPError.Reason? {
        guard let memoryLimit, let expected, expected > Int64(memoryLimit) else { return nil }
        return .bodyTooLarge(limit: memoryLimit)
    }

    /// Bytes that are not compressed.
    package mutating func receive(_ count: Int) -> HTTPError.Reason? {
        if let reason = receiveCompressed(count) { return reason }
        return keep(count)
    }

    package mutating func receiveCompressed(_ count: Int) -> HTTPError.Reason? {
        received += Int64(count)
        guard let expected, received > expected else { return nil }
        return .overlong(expected: expected)
    }

    /// So many more have been made of what was received.
    package mutating func inflate(_ count: Int) -> HTTPError.Reason? {
        guard inflation.permits(inflated + Int64(count), from: received) else { return .inflatesTooMuch }
        return keep(count)
    }

    /// After the last byte.
    package func end() -> HTTPError.Reason? {
        guard let expected, received < expected else { return nil }
        return .truncated(received: received, expected: expected)
    }

    private mutating func keep(_ count: Int) -> HTTPError.Reason? {
        inflated += Int64(count)
        guard let memoryLimit, inflated > Int64(memoryLimit) else { return nil }
        return .bodyTooLarge(limit: memoryLimit)
    }

    /// What a response says about its body: none after HEAD and with 1xx, 204 and 304, whatever Content-Length says.
    package static func announced(by response: HTTPResponse, to method: HTTPRequest.Method) -> Announcement {
        let status = response.status.code
        if method == .head || status / 100 == 1 || status == 204 || status == 304 { return .length(0) }
        // A transfer coding counts before a length (RFC 9112, section 6.3).
        if response.headerFields.contains(.transferEncoding) { return .unknown }
        return contentLength(of: response.headerFields)
    }

    /// The field itself, however often it is there and however often it says the same (RFC 9110, section 8.6).
    package static func contentLength(of fields: HTTPFields) -> Announcement {
        // Several fields come as one, with commas between.
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
#endif
