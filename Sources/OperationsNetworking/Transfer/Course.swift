#if Networking
import AsyncHTTPClient
import HTTPCore
import HTTPTypes
import NIOCore

/// Where an attempt has got to, from redirect to redirect and from challenge to challenge. Used by one task.
///
/// A class, for each function that waits for the next one would need room for all of it.
final class Course {
    var fields: HTTPFields
    var body: OutgoingBody
    var chain: RedirectChain
    /// From where on the rest is asked for; nil for all of it.
    var resume: ResumePoint?
    var authentication = AuthenticationAttempts()
    /// How often a connection had been closed already.
    private var staleConnections = 0

    init(_ fields: HTTPFields, _ body: OutgoingBody, _ chain: RedirectChain, resume: ResumePoint?) {
        self.fields = fields
        self.body = body
        self.chain = chain
        self.resume = resume
    }

    var address: HTTPAddress { chain.current.address }
    var method: HTTPRequest.Method { chain.current.method }

    /// What only asks, and met a connection that was being closed, is sent again (RFC 9112, section 9.3.1). That the server
    /// has got it twice does no harm.
    func resends(_ request: OutgoingRequest, after error: any Error) -> Bool {
        guard request.body == nil, method.isSafe, staleConnections < Self.mostStaleConnections else { return false }
        // The latter two: closed before async-http-client could send anything, by HTTP/1, and by HTTP/2.
        let isStale =
            error is StaleConnection || (error as? ChannelError) == .ioOnClosedChannel
            || (error as? HTTPClientError) == .cancelled
        if isStale { staleConnections += 1 }
        return isStale
    }

    /// More would be a server that closes whatever it is asked.
    private static let mostStaleConnections = 4
}
#endif
