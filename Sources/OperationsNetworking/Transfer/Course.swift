#if Networking
import HTTPCore
import HTTPTypes

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

    init(_ fields: HTTPFields, _ body: OutgoingBody, _ chain: RedirectChain, resume: ResumePoint?) {
        self.fields = fields
        self.body = body
        self.chain = chain
        self.resume = resume
    }

    var address: HTTPAddress { chain.current.address }
    var method: HTTPRequest.Method { chain.current.method }
}
#endif
