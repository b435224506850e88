#if Networking
import AsyncHTTPClient
public import HTTPCore
import Operations
public import HTTPTypes
import NIOCore
import NIOHTTP1

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// What one attempt does: asks, goes where it is sent, says who it is, and takes the body of the answer.
extension Transfer {
    func exchange() async throws {
        guard let address else { throw TransferFailure(.invalidURL) }
        var chain = RedirectChain(request.method, address, policy: request.redirects)
        var authentication = AuthenticationAttempts()
        if let user = address.user {
            let credential = HTTPCredential.password(user: user, password: address.password ?? "")
            _ = authentication.sendUnasked(credential, to: .origin(address.origin))
        }
        var fields = try RequestFields.checked(request.fields, url: address.description)
        var body = OutgoingBody(description: request.body, source: source)
        var resume = try resumePoint(at: address)
        while true {
            let step = chain.current
            let reply = try await reply(to: step, fields, body, &authentication, resume)
            let head = reply.head
            note(reply, at: step.address)
            // A proxy's own challenge never comes here: a server that sends 407 is to get nothing that is for the proxy.
            if head.status == .unauthorized, try await isAnswered(head, at: step.address, &authentication) {
                // What the request brought itself was refused, and would take the answer's place.
                fields[.authorization] = nil
                try await discard(reply.body)
                continue
            }
            switch chain.decision(for: head) {
            case .deliver:
                switch try await receive(reply, resume, at: step.address) {
                case .complete: return
                case .askAnew: resume = nil
                }
            case .fail(let failure):
                throw TransferFailure(failure.reason)
            case .follow(let proposed):
                guard let redirect = try await approved(proposed, head, chain) else {
                    _ = try await receive(reply, nil, at: step.address)
                    return
                }
                await tellCacheOfChange(by: reply, step.method)
                try await discard(reply.body)
                fields = redirect.remaining(of: fields)
                if redirect.dropsBody { body = .none }
                chain.follow(redirect)
                resume = try resumePoint(at: redirect.address)
                record.withLock { record in
                    record.redirects.append(redirect.address.description)
                    record.metrics.redirects += 1
                }
            }
        }
    }

    /// Of no use to who has asked for a part of his own: it counts from the beginning of the whole. And of none to who asks
    /// the cache only, which has wholes.
    private func resumePoint(at address: HTTPAddress) throws -> ResumePoint? {
        guard request.fields[.range] == nil, request.cachePolicy.reading != .onlyIfCached else { return nil }
        return try sink.resumePoint(for: address)
    }

    func send(
        _ step: RedirectChain.Step, _ fields: HTTPFields, _ body: OutgoingBody,
        _ authentication: inout AuthenticationAttempts, _ resume: ResumePoint?
    ) async throws -> Sent {
        let (address, method) = (step.address, step.method)
        var fields = fields
        let own = fields[.authorization] != nil
        if !own,
            let value = authentication.authorization(
                for: .origin(address.origin), method: method, target: address.requestTarget, clientNonce: .nonce())
        {
            fields[.authorization] = value
        }
        if let resume {
            for field in resume.requestFields { fields[field.name] = field.value }
        } else {
            fields = negotiated(fields)
        }
        let upload = try upload(body)
        // With the boundary of this very body.
        if let type = upload.contentType { fields[.contentType] = type }
        let request = OutgoingRequest(
            url: address.withoutFragment.description, method: HTTPMethod(rawValue: method.rawValue),
            headers: HTTPHeaders(fields), body: upload.stream?.body)
        record.withLock { $0.isInBody = false }
        let answer = try await throughProxy(request, to: address.origin, &authentication)
        // What has not been sent by now is not sent any more.
        if answer.head.status.code >= 300 { upload.stream?.refused() }
        let now = session.ticker.now()
        record.withLock { record in
            record.metrics.exchanges += 1
            record.metrics.firstByte = now - answer.sent.time
            record.lastActivity = now
        }
        return Sent(answer: answer, stream: upload.stream)
    }

    private func note(_ reply: Reply, at address: HTTPAddress) {
        record.withLock { record in
            record.response = reply.head
            record.isFromCache = reply.isFromCache
            record.url = address.description
        }
    }

    private func head(of exchange: Exchange) async throws -> HTTPResponse {
        while true {
            if let head = try exchange.head() { return HTTPResponse(head.status, head.headers) }
            await waiting(stoppedBy: { exchange.cancel() }) { await exchange.untilHead() }
        }
    }

    /// What comes next of a body; nil when all has.
    func next(of body: IncomingBody) async throws -> ByteBuffer? {
        let exchange = body.exchange
        while true {
            switch try exchange.next() {
            case .bytes(let bytes): return bytes
            case .end: return nil
            case .later: await waiting(stoppedBy: { exchange.cancel() }) { await exchange.untilMore() }
            }
        }
    }

    // MARK: - Challenges

    private func isAnswered(
        _ head: HTTPResponse, at address: HTTPAddress, _ authentication: inout AuthenticationAttempts
    ) async throws -> Bool {
        let challenges = AuthenticationChallenge.all(in: head.headerFields, .wwwAuthenticate)
        return try await credential(for: challenges, of: .origin(address.origin), &authentication).isAnswered
    }

    /// What a peer's challenges are answered with; no credential where a new nonce is enough.
    private func credential(
        for challenges: [AuthenticationChallenge], of peer: AuthenticationAttempts.Peer,
        _ authentication: inout AuthenticationAttempts
    ) async throws -> (isAnswered: Bool, HTTPCredential?) {
        switch authentication.challenged(by: peer, challenges) {
        case .fail: return (false, nil)
        case .repeatWithNewNonce: return (true, nil)
        case .ask(let challenges):
            let asked = HTTPChallenge(challenges, from: peer)
            guard let source = session.configuration.credentials else { return (false, nil) }
            let credential = try await waitingForOthers {
                try await inTask { await source.credential(for: asked) }
            }
            try checkGoesOn()
            guard let credential else { return (false, nil) }
            return (authentication.answer(peer, with: credential), credential)
        }
    }

    /// Sends a request, through a proxy that may want to know who asks. Nothing of its body has gone before it does.
    private func throughProxy(
        _ request: OutgoingRequest, to server: HTTPAddress.Origin, _ authentication: inout AuthenticationAttempts
    ) async throws -> Answer {
        let connections = session.connections
        while true {
            let exchange = Exchange(with: server, in: connections.line)
            // From here on it is stopped when nobody waits for it any more.
            let body = IncomingBody(exchange)
            if !exchange.asksForTurn() {
                await waitingForOthers {
                    await waiting(stoppedBy: { exchange.cancel() }) { await exchange.untilTurn() }
                }
                try checkGoesOn()
            }
            let sent = (time: session.ticker.now(), date: Date())
            let logins = try connections.begin(exchange, request)
            do {
                return Answer(head: try await head(of: exchange), body: body, sent: sent)
            } catch let error as HTTPClientError where error == .proxyAuthenticationRequired {
                if connections.logins != logins { continue }
                if logins == 0, let login = session.configuration.proxy?.login {
                    _ = authentication.sendUnasked(login, to: .proxy)
                }
                // What it would take is not told by async-http-client, which can do no other but with tokens.
                let offered = [AuthenticationChallenge(scheme: "basic"), AuthenticationChallenge(scheme: "bearer")]
                let answer = try await credential(for: offered, of: .proxy, &authentication)
                guard answer.isAnswered, let credential = answer.1 else { throw TransferFailure(.unauthorized) }
                connections.logIn(with: credential, after: logins)
            }
        }
    }

    // MARK: - Redirects

    /// What the session's hook makes of a redirect; nil if it is not to be followed.
    private func approved(_ redirect: Redirect, _ head: HTTPResponse, _ chain: RedirectChain) async throws -> Redirect?
    {
        guard let hook = session.configuration.redirectHook else { return redirect }
        let asked = HTTPRedirect(redirect, status: head.status.code)
        let answer = try await waitingForOthers {
            try await inTask {
                var changed = asked
                return await hook(&changed) ? changed : nil
            }
        }
        try checkGoesOn()
        guard let proposed = answer else { return nil }
        guard let address = HTTPAddress(proposed.url) else {
            throw TransferFailure(.redirectRefused(location: HTTPAddress.redacted(proposed.url)))
        }
        var changed = redirect
        changed.address = address
        changed.method = proposed.method
        switch chain.checked(changed) {
        case .follow(let redirect): return redirect
        case .fail(let failure): throw TransferFailure(failure.reason)
        case .deliver: return nil
        }
    }

    /// Reads what is left of a body that nobody wants, so that the connection can be used again; unless it is long, or breaks
    /// off, which is nobody's loss.
    func discard(_ body: Reply.Body) async throws {
        guard case .network(let body) = body else { return }
        var count = 0
        do {
            while let bytes = try await next(of: body) {
                noteActivity()
                count += bytes.readableBytes
                if count > 64 << 10 { return }
            }
        } catch {
            try checkGoesOn()
        }
    }
}

/// A redirect that a session's hook may change or refuse (rule R7).
public struct HTTPRedirect: Sendable {
    public let status: Int
    /// The address that redirects.
    public let from: String
    /// Where the request is to go on. Credentials for another origin have been left behind.
    public var url: String
    public var method: HTTPRequest.Method

    init(_ redirect: Redirect, status: Int) {
        self.status = status
        from = redirect.previous.description
        url = redirect.address.description
        method = redirect.method
    }
}

/// Who asks for credentials, and how (rule R8).
public struct HTTPChallenge: Sendable {
    /// Scheme and host of who asks; nil for the proxy.
    public let origin: String?
    /// Those that can be answered, the strongest first.
    public let challenges: [AuthenticationChallenge]

    init(_ challenges: [AuthenticationChallenge], from peer: AuthenticationAttempts.Peer) {
        self.challenges = challenges
        origin = if case .origin(let origin) = peer { origin.description } else { nil }
    }
}

extension String {
    /// A nonce of 128 random bits.
    static func nonce() -> String {
        String(UInt64.random(in: 0...UInt64.max), radix: 16) + String(UInt64.random(in: 0...UInt64.max), radix: 16)
    }
}
#endif
