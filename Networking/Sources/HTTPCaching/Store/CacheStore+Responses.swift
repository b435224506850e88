import Foundation
import HTTPTypes

extension CacheStore {
    private struct Candidate {
        let entry: CacheEntry
        let stored: StoredResponse
        let shelf: Shelf
    }

    func answer(to request: HTTPRequest, policy: HTTPCachePolicy, now: Date) -> CacheAnswer {
        let answer = decision(on: request, policy: policy, now: now)
        guard case .load(var load) = answer, request.method == .get, policy.reading != .ignore else { return answer }
        load.ticket = ticket(shelf(policy.retention))
        return .load(load)
    }

    /// Returns a ticket for a request that is sent now.
    func ticket(_ shelf: Shelf) -> CacheTicket { CacheTicket(number: use(shelf) { try $0.lastInvalidation() }) }

    private func decision(on request: HTTPRequest, policy: HTTPCachePolicy, now: Date) -> CacheAnswer {
        var unusable: Set<Int64> = []
        while true {
            let found = policy.reading == .ignore ? nil : candidate(for: request, except: unusable, now)
            let decision = CacheDecision(request, policy: policy, stored: found?.stored, now: now)
            if case .refuse(let refusal) = decision { return .refuse(refusal) }
            guard let found, decision.needsBody else { return .load(CacheLoad(decision, nil)) }
            guard let body = request.method == .head ? CachedBody(Data()) : body(of: found.entry, in: found.shelf)
            else {
                // A missing or damaged body counts as a response that was not stored.
                unusable.insert(found.entry.id)
                continue
            }
            let response = CachedResponse(
                found.stored, entry: found.entry, in: found.shelf, body: body, ownMaxAge: policy.maxAge, now: now)
            if case .load = decision { return .load(CacheLoad(decision, response)) }
            _ = use(found.shelf) { try $0.used(found.entry.id, at: now) }
            guard case .serveAndRevalidate(let adding) = decision,
                let revalidation = revalidation(of: response, adding: adding, policy, now)
            else { return .serve(response) }
            return .serveAndRevalidate(response, revalidation)
        }
    }

    /// Returns the revalidation of a served response; nil if the response is being revalidated already.
    private func revalidation(
        of served: CachedResponse, adding: HTTPFields, _ policy: HTTPCachePolicy, _ now: Date
    ) -> CacheRevalidation? {
        let claim = RevalidationClaims.Claim(shelf: served.shelf, entry: served.entry.id)
        guard revalidations.begin(claim) else { return nil }
        // The request may wait for long, and must not keep the body in memory meanwhile.
        let stored = CachedResponse(
            served.stored, entry: served.entry, in: served.shelf, body: CachedBody(Data()), ownMaxAge: nil, now: now)
        let load = CacheLoad(
            adding: adding, stored: adding.isEmpty ? nil : stored, standIn: nil, fallbackUntil: nil,
            ticket: ticket(shelf(policy.retention)))
        return CacheRevalidation(load, claim, in: revalidations)
    }

    /// Returns the most recent stored response that matches the request (RFC 9111 §4).
    private func candidate(for request: HTTPRequest, except unusable: Set<Int64>, _ now: Date) -> Candidate? {
        guard request.method == .get || request.method == .head, let target = TargetURI(request) else { return nil }
        var best: Candidate?
        for shelf in [Shelf.session, .permanent] {
            if shelf == .permanent, isOverdue(.responses(target.key)) { continue }
            for entry in use(shelf, { try $0.entries(.response, key: target.key) }) ?? [] {
                guard !unusable.contains(entry.id), !isTooOld(entry, now), let stored = entry.stored,
                    Variance(of: stored.response.headerFields).secondaryKey(of: request.headerFields) == entry.variant
                else { continue }
                if let best, (best.stored.date, best.stored.responseTime) >= (stored.date, stored.responseTime) {
                    continue
                }
                best = Candidate(entry: entry, stored: stored, shelf: shelf)
            }
        }
        return best
    }

    func isTooOld(_ entry: CacheEntry, _ now: Date) -> Bool {
        limits.age.map { now.timeIntervalSince1970 - entry.responseTime > $0 } ?? false
    }

    // MARK: - After a response

    /// Returns the updated response. Removes the entry and returns nil if the 304 concerns another response.
    func refresh(
        _ cached: CachedResponse, with update: HTTPResponse, to request: HTTPRequest, policy: HTTPCachePolicy,
        requestTime: Date, responseTime: Date
    ) -> CachedResponse? {
        guard
            let stored = cached.stored.validated(by: update, requestTime: requestTime, responseTime: responseTime)
        else {
            change(cached.shelf) { try $0.remove(cached.entry.id) }
            return nil
        }
        let entry = replaceHead(of: cached.entry, with: stored, for: request, in: cached.shelf, now: responseTime)
        return CachedResponse(
            stored, entry: entry, in: cached.shelf, body: cached.body, ownMaxAge: policy.maxAge, now: responseTime)
    }

    /// Stores a new head. The new head can vary by other fields than the old head, or can forbid storing.
    private func replaceHead(
        of entry: CacheEntry, with stored: StoredResponse, for request: HTTPRequest, in shelf: Shelf, now: Date
    ) -> CacheEntry {
        let variant = Variance(of: stored.response.headerFields).secondaryKey(of: request.headerFields)
        let new = try? CacheEntry(
            response: stored, key: entry.key, variant: variant ?? "", digest: entry.digest, size: entry.size, now: now)
        guard var new, variant != nil, !stored.control.noStore else {
            change(shelf) { try $0.remove(entry.id) }
            return entry
        }
        new.id = entry.id
        change(shelf) { transaction in
            if new.variant == entry.variant { return try transaction.update(new) }
            guard try transaction.has(entry.id) else { return }
            try transaction.remove(entry.id)
            new.id = try transaction.store(new) ?? entry.id
        }
        return new
    }

    /// Applies a response to HEAD to the stored response (RFC 9111 §4.3.5).
    func noteHead(_ head: HTTPResponse, to request: HTTPRequest, requestTime: Date, responseTime: Date) {
        guard head.status.code == 200, let found = candidate(for: request, except: [], responseTime) else { return }
        let stored = found.stored.freshened(byHead: head, requestTime: requestTime, responseTime: responseTime)
        guard let stored else {
            change(found.shelf) { try $0.remove(found.entry.id) }
            return
        }
        _ = replaceHead(of: found.entry, with: stored, for: request, in: found.shelf, now: responseTime)
    }

    /// Removes the stored responses that match the request.
    func drop(_ request: HTTPRequest, now: Date) {
        var unusable: Set<Int64> = []
        while let found = candidate(for: request, except: unusable, now) {
            if change(found.shelf, { try $0.remove(found.entry.id) }) == nil, found.shelf == .permanent {
                noteOverdue(.responses(found.entry.key))
            }
            unusable.insert(found.entry.id)
        }
    }
}

extension CacheDecision {
    fileprivate var needsBody: Bool {
        switch self {
        case .serve, .serveAndRevalidate: true
        case .refuse: false
        case .load(let adding, let fallbackUntil): !adding.isEmpty || fallbackUntil != nil
        }
    }
}

extension CacheLoad {
    fileprivate init(_ decision: CacheDecision, _ response: CachedResponse?) {
        guard case .load(let adding, let fallbackUntil) = decision, let response else {
            self.init(adding: [:], stored: nil, standIn: nil, fallbackUntil: nil)
            return
        }
        self.init(
            adding: adding, stored: adding.isEmpty ? nil : response, standIn: response, fallbackUntil: fallbackUntil)
    }
}
