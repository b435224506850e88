public import HTTPTypes

/// The reason why an HTTP operation, a download, or an image request has no value.
public struct HTTPError: Error, Sendable {
    /// The kind of the failure.
    public let reason: Reason
    /// The address after redirects, without user name and password.
    public let url: String
    /// The head of the response, or nil if no response arrived.
    public let response: HTTPResponse?

    /// Creates an error. `url` must not contain a user name or password.
    public init(_ reason: Reason, url: String, response: HTTPResponse? = nil) {
        self.reason = reason
        self.url = url
        self.response = response
    }

    /// The kinds of failures.
    public enum Reason: Sendable {
        /// The request was cancelled.
        case cancelled
        /// The address is not an absolute `http` or `https` URL.
        case invalidURL
        /// The name or the value of a field is not valid, for example because it contains a line break, or the
        /// transport sets the field.
        case invalidHeader(name: String)
        /// The client could not resolve the name, connect or complete the handshake, or the peer closed the connection.
        case connection(any Error)
        /// The client does not trust the server's certificate.
        case certificateRefused(any Error)
        /// A time limit was exceeded.
        case timedOut(Limit)
        /// The connection ended before the body was complete. `expected` is the announced length in bytes, or nil if no
        /// length was announced.
        case truncated(received: Int64, expected: Int64?)
        /// The body exceeds the limit for bodies in memory, in bytes.
        case bodyTooLarge(limit: Int)
        /// The decompressed body exceeds its limit.
        case decompressionLimitExceeded
        /// The body cannot be decompressed.
        case undecodableEncoding(String)
        /// The response redirects, and the limit of redirects is reached.
        case tooManyRedirects(limit: Int)
        /// A redirect leads to an address that the request has already visited.
        case redirectLoop
        /// A redirect leads to an address that the client does not follow.
        case redirectRefused(location: String)
        /// The server requires credentials, and the request has none or the server rejected them.
        case unauthorized
        /// The response has a status that the request does not accept.
        case unacceptableStatus(Int)
        /// The response has a type that the request does not accept, or no type.
        case unacceptableType(String?)
        /// The response has no body, and the request needs one.
        case emptyBody
        /// The decoder of the response threw an error.
        case undecodable(any Error)
        /// The SHA-256 digest of the body differs from the expected digest. Both are in hexadecimal digits.
        case digestMismatch(expected: String, actual: String)
        /// The name cannot be the name of a file.
        case unusableName(String)
        /// The disk is full.
        case noSpace
        /// A file cannot be written.
        case cannotWrite(path: String, any Error)
        /// A file cannot be read.
        case cannotRead(path: String, any Error)
        /// The cache policy allows the cache only, and the cache has no response.
        case notInCache
        /// The cache policy requires a response that is not in the cache yet, and the cache has one.
        case alreadyCached
        /// The transfer had delivered the beginning of the body before a pause, and the server cannot continue the same
        /// body.
        case resumeFailed
        /// The request must be sent again, but its body was a sequence that has already been read.
        case bodyNotRepeatable
    }

    /// The kinds of time limit: for the connection, for the time without data, and for the whole request.
    public enum Limit: String, Sendable { case connect, idle, total }
}
