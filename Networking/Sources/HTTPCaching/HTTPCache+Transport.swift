package import Foundation
package import HTTPTypes

/// The methods that a transport calls. The transport calls `answer` before it sends a request. For each final response
/// the transport calls `refresh` if the response is the 304 to conditions of `answer`, and `received` otherwise.
extension HTTPCache {
    /// The source of the expected length of a body.
    package enum ExpectedLength: Sendable {
        /// The length in `Content-Length`, if present. The case is correct only for a body that arrives unchanged from
        /// the connection.
        case announced
        /// The given number of bytes.
        case exactly(Int64)
        /// No length. The transport detects the end in another way, or has decoded the body.
        case unknown
    }

    /// Returns the stored response to serve, or the way to load the response. The request must already have its
    /// credentials and all fields that a response can vary by.
    package func answer(
        to request: HTTPRequest, policy: HTTPCachePolicy = .default, now: Date = Date()
    ) async -> CacheAnswer {
        await store.answer(to: request, policy: policy, now: now)
    }

    /// Returns the stored response after a 304 to the conditions of a `CacheLoad`. Returns nil if the 304 concerns
    /// another response. The transport must then send the request again without conditions.
    package func refresh(
        _ stored: CachedResponse, with response: HTTPResponse, to request: HTTPRequest,
        policy: HTTPCachePolicy = .default, requestTime: Date, responseTime: Date
    ) async -> CachedResponse? {
        await store.refresh(
            stored, with: response, to: request, policy: policy, requestTime: requestTime, responseTime: responseTime)
    }

    /// Applies the head of a response to the cache. Returns a writer for the body if the cache can store the response.
    ///
    /// A response to an unsafe method invalidates the target and the addresses that the response names. A response to
    /// HEAD updates or removes the stored response. A response that the cache must not store removes the response that
    /// it replaces.
    ///
    /// - Parameter ticket: The ticket of the `CacheLoad` from `answer`. Nil means that the request was sent now.
    package func received(
        _ response: HTTPResponse, to request: HTTPRequest, policy: HTTPCachePolicy = .default,
        expectedLength: ExpectedLength = .announced, requestTime: Date, responseTime: Date,
        since ticket: CacheTicket? = nil
    ) async -> CacheWriter? {
        for target in Invalidation.targets(of: response, to: request) {
            await store.remove(.responses(target.key))
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
