#if Networking
public import HTTPTypes

/// Why an HTTP operation, a download, or an image has no value.
public struct HTTPError: Error, Sendable {
    public let reason: Reason
    /// What was asked for, after redirects, without user name and password.
    public let url: String
    /// The head of the response, if one came.
    public let response: HTTPResponse?

    public init(_ reason: Reason, url: String, response: HTTPResponse? = nil) {
        self.reason = reason
        self.url = url
        self.response = response
    }

    public enum Reason: Sendable {
        case cancelled
        /// The address is no absolute `http` or `https` URL.
        case invalidURL
        /// A header's name or value holds what would end the header, or is none.
        case invalidHeader(name: String)
        /// Names cannot be resolved, connections not made, handshakes fail, peers close or reset.
        case connection(any Error)
        case certificateRefused(any Error)
        case timedOut(Limit)
        /// The connection ended before as many bytes had come as were announced; `expected` is nil if none were.
        case truncated(received: Int64, expected: Int64?)
        /// More bytes came than were announced.
        case overlong(expected: Int64)
        case bodyTooLarge(limit: Int)
        /// What is compressed inflates to more than is allowed.
        case inflatesTooMuch
        case undecodableEncoding(String)
        case tooManyRedirects(limit: Int)
        case redirectLoop
        case redirectRefused(location: String)
        /// The credentials were tried once, and refused; or there are none.
        case unauthorized
        case unacceptableStatus(Int)
        case unacceptableType(String?)
        case emptyBody
        case undecodable(any Error)
        case digestMismatch(expected: String, actual: String)
        case unusableName(String)
        case noSpace
        case cannotWrite(path: String, any Error)
        case cannotRead(path: String, any Error)
        /// The policy allowed the cache only, and it is not there.
        case notInCache
        /// The policy asked for what is not cached yet, and it is.
        case alreadyCached
        /// What had come before a pause was given away already, and the server does not go on from there.
        case notContinued
        /// The request's body was a sequence, which is gone: the request cannot be sent again.
        case bodyNotRepeatable
    }

    public enum Limit: String, Sendable { case connect, idle, whole }
}
#endif
