import AsyncHTTPClient
import HTTPCore
import HTTPTypes
import NIOCore

/// The progress of an attempt through redirects and challenges. Used by one task.
///
/// A class: as a value, it would take space in the frame of each suspended function.
final class Course {
    var fields: HTTPFields
    var body: OutgoingBody
    var chain: RedirectChain
    /// The point from which the rest of the body is requested; nil for the whole body.
    var resume: ResumePoint?
    var authentication = AuthenticationAttempts()
    /// The number of connections that turned out to be closed.
    private var staleConnections = 0

    init(_ fields: HTTPFields, _ body: OutgoingBody, _ chain: RedirectChain, resume: ResumePoint?) {
        self.fields = fields
        self.body = body
        self.chain = chain
        self.resume = resume
    }

    var address: HTTPAddress { chain.current.address }
    var method: HTTPRequest.Method { chain.current.method }

    /// Whether to send a request again after an error.
    ///
    /// Only a safe request without a body on a closing connection is sent again (RFC 9112, section 9.3.1). Receiving the
    /// request twice does no harm.
    func resends(_ request: OutgoingRequest, after error: any Error) -> Bool {
        guard request.body == nil, method.isSafe, staleConnections < Self.mostStaleConnections else { return false }
        // The latter two errors mean that async-http-client could send nothing: `ioOnClosedChannel` on HTTP/1, `cancelled` on
        // HTTP/2.
        let isStale =
            error is StaleConnection || (error as? ChannelError) == .ioOnClosedChannel
            || (error as? HTTPClientError) == .cancelled
        if isStale { staleConnections += 1 }
        return isStale
    }

    /// The limit of repetitions, because a server might close every connection.
    private static let mostStaleConnections = 4
}
