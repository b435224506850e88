#if Networking
package import Foundation
package import HTTPTypes

/// What is stored for a request, ready to be served.
package struct CachedResponse: Sendable {
    /// With an `Age` of its own.
    package let response: HTTPResponse
    /// Empty in the answer to a HEAD.
    package let body: CachedBody
    /// In seconds.
    package let age: Double
    package let isFresh: Bool

    let stored: StoredResponse
    let entry: CacheEntry
    let shelf: CacheStore.Shelf

    /// Bytes of the body.
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

/// What to do about a request.
package enum CacheAnswer: Sendable {
    case serve(CachedResponse)
    case load(CacheLoad)
    /// `notInCache` or `alreadyCached`.
    case refuse(CacheDecision.Refusal)
}

/// The state of a cache before a request was sent. The answer is kept only if its address was not invalidated since: else the
/// answer may be older than the change.
package struct CacheTicket: Sendable {
    /// Of the latest invalidation; nil if that could not be read, and then nothing is kept.
    let number: Int64?
}

/// How to load what is not served from the cache.
package struct CacheLoad: Sendable {
    /// Fields the request has to have besides its own.
    package let adding: HTTPFields
    /// What a 304 is about: to be given to `HTTPCache.refresh`. Nil if nothing was added.
    package let stored: CachedResponse?
    let standIn: CachedResponse?
    let fallbackUntil: Date?
    /// To be given to `HTTPCache.received`.
    package internal(set) var ticket = CacheTicket(number: nil)

    /// What to serve if the connection fails, or the status is one of `CacheDecision.isFailure`.
    package func fallback(at now: Date) -> CachedResponse? {
        fallbackUntil.map { now <= $0 } == true ? standIn : nil
    }
}
#endif
