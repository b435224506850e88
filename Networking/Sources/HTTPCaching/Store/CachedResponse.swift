package import Foundation
package import HTTPTypes

/// A stored response that is ready to be served.
package struct CachedResponse: Sendable {
    /// The head of the response with its current `Age`.
    package let response: HTTPResponse
    /// The body, which is empty in the response to HEAD.
    package let body: CachedBody
    /// The age in seconds.
    package let age: Double
    package let isFresh: Bool

    let stored: StoredResponse
    let entry: CacheEntry
    let shelf: CacheStore.Shelf

    /// The size of the body in bytes.
    package var size: Int64 { body.size }

    init(
        _ stored: StoredResponse, entry: CacheEntry, in shelf: CacheStore.Shelf, body: CachedBody, ownMaxAge: Duration?,
        now: Date
    ) {
        let freshness = Freshness(of: stored, at: now, ownMaxAge: ownMaxAge)
        (age, isFresh) = (freshness.age, freshness.isFresh)
        (self.stored, self.entry, self.shelf, self.body) = (stored, entry, shelf, body)
        var response = stored.response
        let seconds = freshness.age.isFinite ? min(freshness.age, Double(CacheControl.mostSeconds)) : 0
        response.headerFields[.age] = "\(Int(seconds))"
        self.response = response
    }
}

/// The cache's answer to a request.
package enum CacheAnswer: Sendable {
    /// Serve this response.
    case serve(CachedResponse)
    /// Serve this response, and revalidate it in the background.
    case serveAndRevalidate(CachedResponse, CacheRevalidation)
    /// Send the request.
    case load(CacheLoad)
    /// Fail the request with `notInCache` or `alreadyCached`.
    case refuse(CacheDecision.Refusal)
}

/// The state of a cache before a request was sent. The cache stores the response only if the address was not
/// invalidated since then, because the response could be older than the change.
package struct CacheTicket: Sendable {
    /// The number of the latest invalidation, or nil if the index could not be read. With nil the cache does not store
    /// the response.
    let number: Int64?
}

/// The way to load a response that the cache does not serve.
package struct CacheLoad: Sendable {
    /// Additional fields for the request.
    package let adding: HTTPFields
    /// The stored response that a 304 confirms, for `HTTPCache.refresh`. Nil if `adding` is empty.
    package let stored: CachedResponse?
    let standIn: CachedResponse?
    let fallbackUntil: Date?
    /// The ticket for `HTTPCache.received`.
    package internal(set) var ticket = CacheTicket(number: nil)

    /// Returns the stored response to serve if the connection fails, or if `CacheDecision.isFailure` is true for the
    /// status.
    package func fallback(at now: Date) -> CachedResponse? {
        fallbackUntil.map { now <= $0 } == true ? standIn : nil
    }
}

/// The revalidation of a stored response in the background. The cache starts no other one of the same response while the
/// object exists.
package final class CacheRevalidation: Sendable {
    /// The way to load the response. Its stored response has no body.
    package let load: CacheLoad
    private let claim: RevalidationClaims.Claim
    private let claims: RevalidationClaims

    init(_ load: CacheLoad, _ claim: RevalidationClaims.Claim, in claims: RevalidationClaims) {
        (self.load, self.claim, self.claims) = (load, claim, claims)
    }

    deinit { claims.end(claim) }
}

/// The stored responses that are being revalidated in the background.
final class RevalidationClaims: @unchecked Sendable {
    // Sendable: the lock guards the set.

    /// The identity of a stored response.
    struct Claim: Hashable, Sendable {
        let shelf: CacheStore.Shelf
        let entry: Int64
    }

    private let lock = NSLock()
    private var claimed: Set<Claim> = []

    /// Returns whether the response was not being revalidated. If so, it is from now on.
    func begin(_ claim: Claim) -> Bool { lock.withLock { claimed.insert(claim).inserted } }

    func end(_ claim: Claim) { _ = lock.withLock { claimed.remove(claim) } }
}
