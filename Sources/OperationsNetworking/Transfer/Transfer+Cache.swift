#if Networking
import AsyncHTTPClient
import HTTPCaching
import HTTPCore
import HTTPTypes
import NIOCore
import Operations

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A response and where its body comes from.
struct Reply {
    enum Body {
        case network(IncomingBody)
        indirect case cache(CachedBody)
    }

    let head: HTTPResponse
    let body: Body
    /// What the cache is to be told of it; nil if it comes from there, or has nothing to do with it.
    let storing: Storing?

    final class Storing {
        let cache: HTTPCache
        let request: HTTPRequest
        let requestTime: Date

        init(_ request: HTTPRequest, sentAt time: Date, in cache: HTTPCache) {
            self.cache = cache
            self.request = request
            requestTime = time
        }
    }

    /// What was sent for it: it ends with the exchange, and this is the exchange.
    private let sent: OutgoingStream?

    init(_ sent: Sent, storing: Storing?) {
        head = sent.answer.head
        body = .network(sent.answer.body)
        self.sent = sent.stream
        self.storing = storing
    }

    init(_ response: CachedResponse) {
        head = response.response
        body = .cache(response.body)
        storing = nil
        sent = nil
    }

    var isFromCache: Bool { if case .cache = body { true } else { false } }
}

/// A response from the network, and what was sent for it.
struct Sent {
    let answer: Answer
    let stream: OutgoingStream?
}

extension Transfer {
    /// The response to one request: from the cache, the network, or both (rules C1 and C2).
    func reply(_ course: Course) async throws -> Reply {
        // A part of something is of no use to the cache, which keeps wholes.
        guard let cache = session.configuration.cache, course.resume == nil, request.cachePolicy.reading != .ignore
        else { return Reply(try await send(course, course.fields, course.resume), storing: nil) }
        return try await reply(course, cache)
    }

    // Apart, for it needs twice as much room as all the rest of a transfer that has no cache.
    @inline(never)
    private func reply(_ course: Course, _ cache: HTTPCache) async throws -> Reply {
        let policy = request.cachePolicy
        let target = course.address.withoutFragment.withoutCredentials
        let plain = HTTPRequest(
            method: course.method, scheme: target.origin.scheme.rawValue, authority: target.origin.authority,
            path: target.requestTarget, headerFields: negotiated(course.fields))
        let load: CacheLoad
        switch await cache.answer(to: plain, policy: policy) {
        case .serve(let response): return Reply(response)
        case .refuse(let refusal): throw TransferFailure(refusal.reason)
        case .load(let answer): load = answer
        }
        try checkGoesOn()
        var conditional = course.fields
        for field in load.adding { conditional[field.name] = field.value }
        let sent: Sent
        do {
            sent = try await send(course, conditional, nil)
        } catch {
            guard !isStopped, let stored = load.fallback(at: Date()) else { throw error }
            return Reply(stored)
        }
        let storing = Reply.Storing(plain, sentAt: sent.answer.sent.date, in: cache)
        let reply = Reply(sent, storing: storing)
        if CacheDecision.isFailure(reply.head.status), let stored = load.fallback(at: Date()) {
            try await discard(reply.body)
            return Reply(stored)
        }
        guard reply.head.status == .notModified, let stored = load.stored else { return reply }
        let fresh = await cache.refresh(
            stored, with: reply.head, to: plain, policy: policy, requestTime: storing.requestTime,
            responseTime: Date())
        if let fresh { return Reply(fresh) }
        return Reply(try await send(course, course.fields, nil), storing: storing)
    }

    /// Where the body is to be kept as well; nil for nowhere.
    ///
    /// - Parameter isDecoded: What is kept is inflated already.
    func cacheWriter(for reply: Reply, length: Int64?, isDecoded: Bool) async -> CacheWriter? {
        guard let storing = reply.storing else { return nil }
        var head = reply.head
        if isDecoded {
            head.headerFields[.contentEncoding] = nil
            head.headerFields[.contentLength] = nil
        }
        return await storing.cache.received(
            head, to: storing.request, policy: request.cachePolicy,
            expectedLength: length.map { .exactly($0) } ?? .unknown, requestTime: storing.requestTime,
            responseTime: Date())
    }

    /// A response that is a redirect, and not received, may still tell of a change.
    func tellCacheOfChange(by reply: Reply, _ method: HTTPRequest.Method) async {
        if !method.isSafe { await cacheWriter(for: reply, length: nil, isDecoded: false)?.abandon() }
    }

    /// As they are sent, for the cache to know by what responses vary.
    func negotiated(_ fields: HTTPFields) -> HTTPFields {
        var fields = fields
        if fields[.acceptEncoding] == nil {
            fields[.acceptEncoding] = sink.prefersRanges ? "identity" : BodyDecoder.accepted
        }
        return fields
    }
}
#endif
