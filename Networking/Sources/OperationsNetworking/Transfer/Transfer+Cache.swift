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

/// A response and the source of its body.
struct Reply {
    enum Body {
        case network(IncomingBody)
        indirect case cache(CachedBody)
    }

    let head: HTTPResponse
    let body: Body
    /// The number of proxy logins before the request.
    let logins: Int
    /// The data for the cache; nil if the response comes from the cache or must not be stored.
    let storing: Storing?

    final class Storing {
        let cache: HTTPCache
        let request: HTTPRequest
        /// The answer of the cache before the request.
        let load: CacheLoad
        let requestTime: Date

        init(_ request: HTTPRequest, _ load: CacheLoad, sentAt time: Date, in cache: HTTPCache) {
            self.cache = cache
            self.request = request
            self.load = load
            requestTime = time
        }
    }

    /// The request body of the exchange. The exchange lives as long as this reference.
    private let sent: OutgoingStream?

    init(_ sent: Sent, storing: Storing? = nil) {
        head = sent.answer.head
        logins = sent.answer.logins
        body = .network(sent.answer.body)
        self.sent = sent.stream
        self.storing = storing
    }

    init(_ response: CachedResponse) {
        head = response.response
        logins = 0
        body = .cache(response.body)
        storing = nil
        sent = nil
    }

    var isFromCache: Bool { if case .cache = body { true } else { false } }
}

/// A response from the network, with the request body of its exchange.
struct Sent {
    let answer: Answer
    let stream: OutgoingStream?
}

extension Transfer {
    /// Returns the response to one request, from the cache, the network, or both.
    func reply(_ course: Course) async throws -> Reply {
        guard let cache = session.configuration.cache else {
            return Reply(try await send(course, course.fields, course.resume))
        }
        if !course.method.isSafe { return try await replyToChange(course, cache) }
        // The cache stores whole bodies, so a partial response is useless to it.
        guard course.resume == nil, request.cachePolicy.reading != .ignore else {
            return Reply(try await send(course, course.fields, course.resume))
        }
        return try await reply(course, cache)
    }

    /// Returns the request for the cache. The field `Authorization` stands for all credentials of the request. The cache stores
    /// at most a digest of the credentials.
    private func known(_ course: Course) -> HTTPRequest {
        let target = course.address.withoutFragment.withoutCredentials
        let user = UserIdentity(
            course.authentication.credential(for: .origin(target.origin)), fields: course.fields,
            credentialFields: request.redirects.credentialFields)
        var fields = negotiated(course.fields)
        fields[.authorization] = user.secret
        return HTTPRequest(
            method: course.method, scheme: target.origin.scheme.rawValue, authority: target.origin.authority,
            path: target.requestTarget, headerFields: fields)
    }

    /// Sends a request that may change something, and notifies the cache when the head arrives.
    ///
    /// The notification happens under every policy, and also if the rest of the response fails (RFC 9111, section 4.4).
    @inline(never)
    private func replyToChange(_ course: Course, _ cache: HTTPCache) async throws -> Reply {
        let (request, policy) = (known(course), self.request.cachePolicy)
        if case .refuse(let refusal) = await waitingForOthers({ await cache.answer(to: request, policy: policy) }) {
            throw TransferFailure(refusal.reason)
        }
        try checkNotStopped()
        let sent = try await send(course, course.fields, course.resume)
        let now = Date()
        await waitingForOthers {
            _ = await cache.received(
                sent.answer.head, to: request, policy: policy, requestTime: sent.answer.sent.date, responseTime: now)
        }
        return Reply(sent)
    }

    // A separate function, because its frame is twice as large as the rest of a transfer without a cache.
    @inline(never)
    private func reply(_ course: Course, _ cache: HTTPCache) async throws -> Reply {
        let (request, policy) = (known(course), self.request.cachePolicy)
        let load: CacheLoad
        if let revalidation {
            load = revalidation.cached.load
        } else {
            switch await waitingForOthers({ await cache.answer(to: request, policy: policy) }) {
            case .serve(let response): return Reply(response)
            case .serveAndRevalidate(let response, let revalidation):
                revalidate(revalidation, course)
                return Reply(response)
            case .refuse(let refusal): throw TransferFailure(refusal.reason)
            case .load(let answer): load = answer
            }
        }
        try checkNotStopped()
        var conditional = course.fields
        for field in load.adding { conditional[field.name] = field.value }
        let sent: Sent
        do {
            sent = try await send(course, conditional, nil)
        } catch {
            return Reply(try standIn(load, after: error))
        }
        let storing = Reply.Storing(request, load, sentAt: sent.answer.sent.date, in: cache)
        let reply = Reply(sent, storing: storing)
        if CacheDecision.isFailure(reply.head.status), let stored = load.fallback(at: Date()) {
            try await discard(reply.body)
            return Reply(stored)
        }
        // A failing server says nothing about the response that the cache continues to serve (RFC 9111, section 4.3.3).
        if revalidation != nil, reply.head.status.code >= 500 { return Reply(sent) }
        guard reply.head.status == .notModified, let stored = load.stored else { return reply }
        let now = Date()
        let fresh = await waitingForOthers {
            await cache.refresh(
                stored, with: reply.head, to: request, policy: policy, requestTime: storing.requestTime,
                responseTime: now)
        }
        if let fresh { return Reply(fresh) }
        return Reply(try await send(course, course.fields, nil), storing: storing)
    }

    /// Returns the writer that stores the body in the cache; nil if the body is not stored.
    ///
    /// - Parameter isDecoded: Whether the stored body is decompressed.
    func cacheWriter(for reply: Reply, length: Int64?, isDecoded: Bool) async -> CacheWriter? {
        guard let storing = reply.storing else { return nil }
        var head = reply.head
        if isDecoded {
            head.headerFields[.contentEncoding] = nil
            head.headerFields[.contentLength] = nil
        }
        let now = Date()
        return await waitingForOthers {
            await storing.cache.received(
                head, to: storing.request, policy: request.cachePolicy,
                expectedLength: length.map { .exactly($0) } ?? .unknown, requestTime: storing.requestTime,
                responseTime: now, since: storing.load.ticket)
        }
    }

    /// Returns the fields as they are sent, by which the cache distinguishes variants.
    func negotiated(_ fields: HTTPFields) -> HTTPFields {
        var fields = fields
        if fields[.acceptEncoding] == nil {
            // A part of a compressed body cannot be decompressed alone.
            let isIdentity = sink.prefersRanges || fields[.range] != nil
            fields[.acceptEncoding] = isIdentity ? "identity" : BodyDecoder.accepted
        }
        return fields
    }
}
