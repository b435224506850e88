#if Networking
package import Foundation
package import HTTPCore
package import HTTPTypes

/// What to do about a request, given what is stored for it (RFC 9111 §4; rules C1, C2).
package enum CacheDecision: Equatable, Sendable {
    case serve
    /// Ask the server, with these fields besides the request's own; with none, load as if nothing were stored. What is
    /// stored may be served instead when that fails before `fallbackUntil`.
    case load(adding: HTTPFields, fallbackUntil: Date? = nil)
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

    /// `stored` is what was chosen for the request by its address and secondary key.
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

    /// The caller's own conditions and ranges go to the server as they are.
    private static func isPartialOrConditional(_ request: HTTPRequest) -> Bool {
        [HTTPField.Name.range, .ifRange, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince]
            .contains { request.headerFields.contains($0) }
    }

    /// Whether a status means that the server could not answer, so that what is stored may be served (RFC 5861 §4).
    package static func isFailure(_ status: HTTPResponse.Status) -> Bool {
        [500, 502, 503, 504].contains(status.code)
    }
}

private struct Question {
    let request: HTTPRequest
    let policy: HTTPCachePolicy
    let now: Date
    /// Empty where the policy passes over what the request's fields say.
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
        switch policy.reading {
        case .onlyIfCached, .cachedElseLoad: return .serve
        case .loadOnlyIfNotCached: return .refuse(.alreadyCached)
        case .ignore, .askAlways: break
        case .standard, .askIfStale: if mayServe(stored) { return .serve }
        }
        if asked.onlyIfCached { return .refuse(.notInCache) }
        // A HEAD is not made conditional: its 200 tells as much as a 304.
        let conditions = request.method == .get ? stored.conditions : [:]
        return .load(adding: conditions, fallbackUntil: fallbackEnd(stored))
    }

    /// Whether it may be served without asking: §4, §5.2.1, §5.2.2.
    private func mayServe(_ stored: StoredResponse) -> Bool {
        let control = stored.control
        if control.noCache || asked.noCache { return false }
        let freshness = Freshness(of: stored, at: now, ownMaxAge: policy.maxAge)
        // RFC 8246: a reload, which says max-age=0, does not ask for what does not change.
        let isReloadOfImmutable = asked.maxAge == 0 && control.isImmutable && freshness.isFresh
        if let maxAge = asked.maxAge, freshness.age > Double(maxAge) || maxAge == 0, !isReloadOfImmutable {
            return false
        }
        if let minFresh = asked.minFresh, freshness.lifetime - freshness.age < Double(minFresh) { return false }
        if freshness.isFresh { return true }
        guard let maxStale = asked.maxStale, !control.mustRevalidate else { return false }
        return freshness.staleness <= Double(maxStale)
    }

    /// Until when it may be served if the server cannot answer (RFC 5861 §4); nil if never.
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
#endif
