#if Networking
package import Foundation
package import HTTPTypes

/// What a transport calls: `answer` before it sends; then, for every final response, `refresh` if it is the 304 that
/// `answer` has asked for, else `received`.
extension HTTPCache {
    /// How the length of a body is known.
    package enum ExpectedLength: Sendable {
        /// By `Content-Length`, if there is one: when the body is stored as it comes from the connection.
        case announced
        case exactly(Int64)
        /// The end is known otherwise, or the body was decoded.
        case unknown
    }

    /// Whether to serve what is stored, or how to load. The request has to have all its fields, as far as responses may
    /// vary by them, and its credentials.
    package func answer(
        to request: HTTPRequest, policy: HTTPCachePolicy = .default, now: Date = Date()
    ) async -> CacheAnswer {
        await store.answer(to: request, policy: policy, now: now)
    }

    /// The stored response after a 304 to the conditions of a `CacheLoad`. Nil if the 304 is about another response than
    /// that: the request has to be sent again, without conditions.
    package func refresh(
        _ stored: CachedResponse, with response: HTTPResponse, to request: HTTPRequest,
        policy: HTTPCachePolicy = .default, requestTime: Date, responseTime: Date
    ) async -> CachedResponse? {
        await store.refresh(
            stored, with: response, to: request, policy: policy, requestTime: requestTime, responseTime: responseTime)
    }

    /// What the head of a response means for the cache. Answers where to write the body, if it may be stored.
    ///
    /// After a method that is not safe, the target and what the response names is invalidated; after a HEAD, what is stored
    /// is updated or dropped; a response that may not be stored drops what it takes the place of.
    ///
    /// - Parameter ticket: The ticket of the `CacheLoad` that `answer` gave. Nil counts as a request that was sent now.
    package func received(
        _ response: HTTPResponse, to request: HTTPRequest, policy: HTTPCachePolicy = .default,
        expectedLength: ExpectedLength = .announced, requestTime: Date, responseTime: Date,
        since ticket: CacheTicket? = nil
    ) async -> CacheWriter? {
        for target in Invalidation.targets(of: response, to: request) {
            await store.invalidate(target.key)
        }
        if request.method == .head, policy.reading != .ignore {
            await store.noteHead(response, to: request, requestTime: requestTime, responseTime: responseTime)
        }
        switch Storability(of: response, to: request, policy: policy) {
        case .leave: return nil
        case .drop:
            await store.drop(request, now: responseTime)
            return nil
        case .store:
            guard let target = TargetURI(request),
                let variant = Variance(of: response.headerFields).secondaryKey(of: request.headerFields)
            else { return nil }
            let shelf = store.shelf(policy.retention)
            let given = if let ticket { ticket } else { await store.ticket(shelf) }
            return CacheWriter(
                StoredResponse(response, requestTime: requestTime, responseTime: responseTime), key: target.key,
                variant: variant, expectedLength: length(of: response, expectedLength),
                in: shelf, of: store, since: given, on: writing)
        }
    }

    private func length(of response: HTTPResponse, _ expected: ExpectedLength) -> Int64? {
        switch expected {
        case .exactly(let length): length
        case .unknown: nil
        case .announced: response.headerFields[values: .contentLength].first.flatMap { Int64($0) }
        }
    }
}
#endif
