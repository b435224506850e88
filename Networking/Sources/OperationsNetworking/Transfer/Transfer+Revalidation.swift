import HTTPCaching
import HTTPCore
import HTTPTypes
import NIOCore
import Operations

/// The revalidation of a response that the cache has served to another transfer.
struct Revalidation {
    let cached: CacheRevalidation
    /// The credentials of the served request.
    let authentication: AuthenticationAttempts
}

extension Transfer {
    /// Starts the request that revalidates a served response (RFC 5861, section 3). From then on the request is independent of
    /// this transfer.
    func revalidate(_ cached: CacheRevalidation, _ course: Course) {
        // The address and the fields of the request that the cache answered, which can follow a redirect or a challenge.
        var description = HTTPRequestDescription(
            course.method, course.address.withoutFragment.withoutCredentials.description,
            fields: negotiated(course.fields))
        description.limits = request.limits
        description.cachePolicy = request.cachePolicy
        description.retrySafety = .never
        description.redirects = request.redirects
        // The redirect is the response to store. Its target is another stored response.
        description.redirects.follows = false
        let operation = RevalidationOperation(
            description, Revalidation(cached: cached, authentication: course.authentication), of: session)
        if let background { background(operation) } else { session.revalidate(operation) }
    }
}

/// A request in the background that revalidates a stored response. Its failures appear in the events of the client only.
final class RevalidationOperation: HTTPOperation, @unchecked Sendable {
    init(_ request: HTTPRequestDescription, _ revalidation: Revalidation, of session: HTTPSession) {
        super.init(
            request, session: HTTPSession(inBackgroundOf: session), sink: DiscardingSink(), revalidation)
        qualityOfService = .background
        queuePriority = .veryLow
    }

    override var reportsFailure: Bool { false }
}

/// A sink for bodies that only the cache needs.
private final class DiscardingSink: BodySink {
    var prefersRanges: Bool { false }
    func resumePoint(for address: HTTPAddress) -> ResumePoint? { nil }
    func begin(at offset: Int64, length: Int64?, _ head: HTTPResponse, at address: HTTPAddress) {}
    func write(_ bytes: ByteBuffer) {}
    func finish() {}
    func forget() {}
    func abandon(_ failure: any Error) {}
}
