package import Foundation
package import HTTPCore
package import HTTPTypes

/// The decision about a request, depending on the stored response (RFC 9111 §4).
package enum CacheDecision: Equatable, Sendable {
    /// Serve the stored response without a request to the server.
    case serve
    /// Serve the stored response at once. A request in the background with these additional fields revalidates it (RFC
    /// 5861 §3).
    case serveAndRevalidate(adding: HTTPFields)
    /// Send the request with these additional fields. Without additional fields, the request is unconditional. If the
    /// request fails before `fallbackUntil`, the transport may serve the stored response.
    case load(adding: HTTPFields, fallbackUntil: Date? = nil)
    /// Fail the request.
    case refuse(Refusal)

    package enum Refusal: Equatable, Sendable {
        case notInCache, alreadyCached

        package var reason: HTTPError.Reason {
            switch self {
            case .notInCache: .notInCache
            case .alreadyCached: .alreadyCached
            }
        }
    }

    /// Makes the decision. `stored` is the response that matches the request's address and secondary key.
    package init(_ request: HTTPRequest, policy: HTTPCachePolicy, stored: StoredResponse?, now: Date) {
        let question = Question(request: request, policy: policy, now: now)
        let isCacheable = (request.method == .get || request.method == .head) && TargetURI(request) != nil
        guard policy.reading != .ignore else {
            self = .load(adding: [:])
            return
        }
        guard isCacheable, let stored, !Self.isPartialOrConditional(request) else {
            self = question.withoutStored
            return
        }
        self = question.answer(stored)
    }

    /// Whether the request already has conditions or ranges. The cache sends such requests to the server unchanged.
    private static func isPartialOrConditional(_ request: HTTPRequest) -> Bool {
        [HTTPField.Name.range, .ifRange, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince]
            .contains { request.headerFields.contains($0) }
    }

    /// Returns whether the status means that the server could not answer, so that the transport may serve a stored
    /// response (RFC 5861 §4).
    package static func isFailure(_ status: HTTPResponse.Status) -> Bool {
        [500, 502, 503, 504].contains(status.code)
    }
}

private struct Question {
    let request: HTTPRequest
    let policy: HTTPCachePolicy
    let now: Date
    /// The request's directives, or none if the policy ignores the fields of the request.
    let asked: CacheControl

    init(request: HTTPRequest, policy: HTTPCachePolicy, now: Date) {
        self.request = request
        self.policy = policy
        self.now = now
        asked = policy.reading == .askIfStale ? CacheControl() : CacheControl(ofRequest: request.headerFields)
    }

    var withoutStored: CacheDecision {
        policy.reading == .onlyIfCached || asked.onlyIfCached ? .refuse(.notInCache) : .load(adding: [:])
    }

    func answer(_ stored: StoredResponse) -> CacheDecision {
        // The cache does not make a HEAD request conditional, because its 200 has the same information as a 304.
        let conditions = request.method == .get ? stored.conditions : [:]
        switch policy.reading {
        case .onlyIfCached, .returnCacheElseLoad: return .serve
        case .loadOnlyIfNotCached: return .refuse(.alreadyCached)
        case .ignore, .revalidate: break
        case .standard, .askIfStale:
            if mayServeWhileRevalidating(stored) {
                return asked.onlyIfCached ? .serve : .serveAndRevalidate(adding: conditions)
            }
            if mayServe(stored) { return .serve }
        }
        if asked.onlyIfCached { return .refuse(.notInCache) }
        return .load(adding: conditions, fallbackUntil: fallbackEnd(stored))
    }

    /// Whether the cache may serve the stored response without a request (§4, §5.2.1, §5.2.2).
    private func mayServe(_ stored: StoredResponse) -> Bool {
        let control = stored.control
        if control.noCache || asked.noCache { return false }
        let freshness = Freshness(of: stored, at: now, ownMaxAge: policy.maxAge)
        // RFC 8246: a reload, which sends max-age=0, does not revalidate an immutable response.
        let isReloadOfImmutable = asked.maxAge == 0 && control.isImmutable && freshness.isFresh
        if let maxAge = asked.maxAge, freshness.age > Double(maxAge) || maxAge == 0, !isReloadOfImmutable {
            return false
        }
        if let minFresh = asked.minFresh, freshness.lifetime - freshness.age < Double(minFresh) { return false }
        if freshness.isFresh { return true }
        guard let maxStale = asked.maxStale, !control.mustRevalidate else { return false }
        return freshness.staleness <= Double(maxStale)
    }

    /// Whether the cache may serve the stale response while a request in the background revalidates it (RFC 5861 §3).
    private func mayServeWhileRevalidating(_ stored: StoredResponse) -> Bool {
        let control = stored.control
        guard policy.allowsStaleWhileRevalidate, policy.maxAge == nil, let window = control.staleWhileRevalidate,
            window > 0, !control.noCache, !control.mustRevalidate, !asked.noCache
        else { return false }
        let freshness = Freshness(of: stored, at: now)
        guard !freshness.isFresh, freshness.staleness <= Double(window) else { return false }
        // The response to a request with no-store cannot replace the stored response.
        if CacheControl(ofRequest: request.headerFields).noStore { return false }
        // The limits of the request have precedence over the window.
        let isLimited = asked.maxAge != nil || asked.minFresh != nil || asked.maxStale != nil
        return !isLimited || mayServe(stored)
    }

    /// Returns the time until which the stored response may replace a failed response (RFC 5861 §4), or nil.
    private func fallbackEnd(_ stored: StoredResponse) -> Date? {
        if policy.fallsBackOnFailure { return .distantFuture }
        let control = stored.control
        guard !control.noCache, !control.mustRevalidate,
            let seconds = [control.staleIfError, asked.staleIfError].compactMap(\.self).max()
        else { return nil }
        let freshness = Freshness(of: stored, at: now, ownMaxAge: policy.maxAge)
        let end = now.addingTimeInterval(freshness.lifetime + Double(seconds) - freshness.age)
        return end >= now ? end : nil
    }
}
