import AsyncHTTPClient
import HTTPCaching
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

// The steps of one attempt: send requests, follow redirects, answer challenges, and receive the body.
extension Transfer {
    func exchange() async throws {
        let course = try course()
        while try await !isComplete(course) {}
    }

    private func course() throws -> Course {
        guard let address else { throw TransferFailure(.invalidURL) }
        let course = Course(
            try RequestFields.checked(request.fields, url: address.description),
            OutgoingBody(description: request.body, source: source),
            RedirectChain(request.method, address, policy: request.redirects), resume: try resumePoint(at: address))
        if let user = address.user {
            let credential = HTTPCredential.password(user: user, password: address.password ?? "")
            _ = course.authentication.sendUnasked(credential, to: .origin(address.origin))
        }
        if let revalidation { course.authentication = revalidation.authentication }
        return course
    }

    /// Sends one request. Returns false if another request must follow.
    private func isComplete(_ course: Course) async throws -> Bool {
        let address = course.address
        let reply = try await reply(course)
        note(reply, at: address)
        // A 407 through a tunnel comes from the server, which must not get credentials of the proxy.
        if reply.head.status == .proxyAuthenticationRequired, revalidation == nil,
            session.connections.forwards(address.origin),
            !reply.isFromCache
        {
            try await discard(reply.body)
            try await logIn(
                after: reply.logins, AuthenticationChallenge.all(in: reply.head.headerFields, .proxyAuthenticate),
                course)
            return false
        }
        if reply.head.status == .unauthorized, try await isAnswered(reply.head, course) {
            // The request's own credential was refused, and would override the new one.
            course.fields[.authorization] = nil
            try await discard(reply.body)
            return false
        }
        switch course.chain.decision(for: reply.head) {
        case .deliver:
            switch try await receiveOrFallBack(reply, course.resume, at: address) {
            case .complete: return true
            case .askAnew: course.resume = nil
            case .continued: course.resume = try resumePoint(at: address)
            }
            return false
        case .fail(let failure):
            throw TransferFailure(failure.reason)
        case .follow(let redirect):
            if try await follows(redirect, reply, course) { return false }
            _ = try await receive(reply, nil, at: address)
            return true
        }
    }

    /// Follows a redirect. Returns false if the redirect itself is the response.
    private func follows(_ proposed: Redirect, _ reply: Reply, _ course: Course) async throws -> Bool {
        guard let redirect = try await approved(proposed, reply.head, course.chain) else { return false }
        // The redirect is a response to the cache too: it replaces the stored response, or removes it.
        let isEncoded = reply.head.headerFields[.contentEncoding] != nil
        let length = try announcedLength(reply.head)
        let writer = await cacheWriter(for: reply, length: length, isDecoded: false)
        try await discard(reply.body, into: isEncoded ? nil : writer)
        course.fields = redirect.remaining(of: course.fields)
        if redirect.dropsBody { course.body = .none }
        course.chain.follow(redirect)
        course.resume = try resumePoint(at: redirect.address)
        record.withLock { record in
            record.redirects.append(redirect.address.description)
            record.metrics.redirects += 1
        }
        return true
    }

    /// Returns the resume point for the address; nil for a request with a range of its own. Such a range counts from the
    /// beginning of the resource. Also nil for a request to the cache alone, which stores whole bodies.
    private func resumePoint(at address: HTTPAddress) throws -> ResumePoint? {
        guard request.fields[.range] == nil, request.cachePolicy.reading != .onlyIfCached else { return nil }
        return try sink.resumePoint(for: address)
    }

    /// - Parameter resume: The point from which the rest of the body is requested; nil for the whole body.
    func send(_ course: Course, _ fields: HTTPFields, _ resume: ResumePoint?) async throws -> Sent {
        let (request, stream) = try outgoing(course, fields, resume)
        record.withLock { $0.isInBody = false }
        // Counted after a failure too, because the server may have received the request.
        defer { if !course.method.isSafe { session.noteChange() } }
        let answer = try await throughProxy(request, course)
        // After a refusal or redirect the rest of the request body is not needed.
        if answer.head.status.code >= 300 { stream?.refused() }
        let now = session.ticker.now()
        record.withLock { record in
            record.metrics.exchanges += 1
            record.metrics.firstByte = now - answer.sent.time
            record.metrics.isConnectionReused = answer.use.map { $0.earlier > 0 }
            // For a request that arrives while its connection is being established, only the remaining time counts.
            record.metrics.connect = answer.use.map { max($0.established - answer.sent.time, .zero) }
            record.lastActivity = now
        }
        return Sent(answer: answer, stream: stream)
    }

    private func outgoing(
        _ course: Course, _ fields: HTTPFields, _ resume: ResumePoint?
    ) throws -> (OutgoingRequest, OutgoingStream?) {
        let (address, method) = (course.address, course.method)
        var fields = fields
        if fields[.authorization] == nil,
            let value = course.authentication.authorization(
                for: .origin(address.origin), method: method, target: address.requestTarget, clientNonce: .nonce())
        {
            fields[.authorization] = value
        }
        if let resume {
            for field in resume.requestFields { fields[field.name] = field.value }
        } else {
            fields = negotiated(fields)
        }
        let upload = try upload(course.body)
        // The content type contains the boundary of this body.
        if let type = upload.contentType { fields[.contentType] = type }
        let request = OutgoingRequest(
            address, method: HTTPMethod(rawValue: method.rawValue), headers: HTTPHeaders(fields),
            body: upload.stream?.body)
        return (request, upload.stream)
    }

    func note(_ reply: Reply, at address: HTTPAddress) {
        record.withLock { record in
            record.response = reply.head
            record.isFromCache = reply.isFromCache
            record.url = address.description
        }
    }

    private func head(of exchange: Exchange) async throws -> HTTPResponseHead {
        while true {
            if let head = try exchange.head() { return head }
            await waiting(stoppedBy: { exchange.cancel() }) { await exchange.untilHead() }
        }
    }

    /// Returns the next portion of a body; nil at its end.
    ///
    /// - Parameter wait: Called before each wait.
    func next(of body: IncomingBody, before wait: () -> Void = {}) async throws -> ByteBuffer? {
        let exchange = body.exchange
        while true {
            // Checked here: a body that arrives faster than it is read never reaches a suspension.
            try checkNotStopped()
            switch try exchange.next() {
            case .bytes(let bytes): return bytes
            case .end: return nil
            case .later:
                wait()
                await waiting(stoppedBy: { exchange.cancel() }) { await exchange.untilMore() }
            }
        }
    }

    // MARK: - Challenges

    private func isAnswered(_ head: HTTPResponse, _ course: Course) async throws -> Bool {
        let challenges = AuthenticationChallenge.all(in: head.headerFields, .wwwAuthenticate)
        return try await credential(for: challenges, of: .origin(course.address.origin), course).isAnswered
    }

    /// Answers the challenges of a peer. The credential is nil if a new nonce is sufficient.
    private func credential(
        for challenges: [AuthenticationChallenge], of peer: AuthenticationAttempts.Peer, _ course: Course
    ) async throws -> (isAnswered: Bool, HTTPCredential?) {
        switch course.authentication.challenged(by: peer, challenges) {
        case .fail: return (false, nil)
        case .repeatWithNewNonce: return (true, nil)
        case .ask(let challenges):
            let asked = HTTPChallenge(challenges, from: peer)
            // A source may ask the user, and the program has not made this request.
            guard revalidation == nil, let source = session.configuration.credentials else { return (false, nil) }
            let credential = try await waitingForOthers {
                try await inTask { await source.credential(for: asked) }
            }
            try checkNotStopped()
            guard let credential else { return (false, nil) }
            return (course.authentication.answer(peer, with: credential), credential)
        }
    }

    /// Sends a request. Logs in at the proxy if it refuses a tunnel, so the body is sent only after the login.
    private func throughProxy(_ request: OutgoingRequest, _ course: Course) async throws -> Answer {
        while true {
            let server = session.connections.server(for: course.address.origin)
            let exchange = Exchange(with: server, in: session.connections.line)
            // From here on, releasing `body` stops the exchange.
            let body = IncomingBody(exchange)
            let turn = if let turn = exchange.asksForTurn() { turn } else { try await turn(of: exchange) }
            let sent = (time: session.ticker.now(), date: Date())
            let logins = try session.connections.begin(exchange, request, turn: turn)
            do {
                let head = try await head(of: exchange)
                return Answer(
                    head: HTTPResponse(head.status, head.headers), body: body, sent: sent,
                    use: ConnectionUse(notedIn: head.headers), logins: logins)
            } catch {
                try await prepareToResend(request, after: error, logins, course)
            }
        }
    }

    /// - Throws: The error, unless the request may be sent again.
    private func prepareToResend(
        _ request: OutgoingRequest, after error: any Error, _ logins: Int, _ course: Course
    ) async throws {
        if (error as? HTTPClientError) == .proxyAuthenticationRequired {
            // async-http-client does not report the challenge.
            let offered = [AuthenticationChallenge(scheme: "basic"), AuthenticationChallenge(scheme: "bearer")]
            return try await logIn(after: logins, offered, course)
        }
        // The next connection may be stale as well, but there are few stale connections.
        guard course.resends(request, after: error) else { throw error }
    }

    private func turn(of exchange: Exchange) async throws -> Int {
        let turn = await waitingForOthers {
            await waiting(stoppedBy: { exchange.cancel() }) { await exchange.untilTurn() }
        }
        try checkNotStopped()
        guard let turn else { throw CancellationError() }
        return turn
    }

    /// Logs in at the proxy, unless another request has logged in since the refusal.
    private func logIn(after logins: Int, _ challenges: [AuthenticationChallenge], _ course: Course) async throws {
        let connections = session.connections
        if connections.logins != logins { return }
        if logins == 0, let login = session.configuration.proxy?.login {
            _ = course.authentication.sendUnasked(login, to: .proxy)
        }
        // The same login opens tunnels, for which async-http-client supports only these two schemes.
        let offered = challenges.filter { ["basic", "bearer"].contains($0.scheme) }
        let answer = try await credential(for: offered, of: .proxy, course)
        guard answer.isAnswered, let credential = answer.1 else { throw TransferFailure(.unauthorized) }
        connections.logIn(with: credential, after: logins)
    }

    // MARK: - Redirects

    /// Returns the redirect as the session's hook has changed it; nil if the hook refuses it.
    private func approved(_ redirect: Redirect, _ head: HTTPResponse, _ chain: RedirectChain) async throws -> Redirect?
    {
        guard let hook = session.configuration.redirectHandler else { return redirect }
        let asked = HTTPRedirect(redirect, status: head.status.code)
        let answer = try await waitingForOthers {
            try await inTask {
                var changed = asked
                return await hook(&changed) ? changed : nil
            }
        }
        try checkNotStopped()
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

    /// Reads the rest of an unused body so that the connection can be reused. A long or slow body is dropped, and errors of
    /// the connection are ignored.
    ///
    /// - Parameter writer: Receives the body if it is complete and short.
    func discard(_ body: Reply.Body, into writer: CacheWriter? = nil) async throws {
        guard case .network(let body) = body else { return }
        var (count, timer) = (0, Task<Void, Never>?.none)
        beginWaitingForOthers()
        defer {
            endWaitingForOthers()
            timer?.cancel()
        }
        do {
            while let bytes = try await next(of: body, before: { timer = timer ?? cancelling(body.exchange) }) {
                count += bytes.readableBytes
                if count > 64 << 10 {
                    if let writer { await writer.abandon() }
                    return
                }
                if let writer { await writer.write(bytes.readableBytesView) }
            }
            if let writer { await writer.finish() }
        } catch {
            if let writer { await writer.abandon() }
            try checkNotStopped()
        }
    }

    private func cancelling(_ exchange: Exchange) -> Task<Void, Never> {
        let (ticker, end) = (session.ticker, session.ticker.now() + .seconds(1))
        return Task(executorPreference: OperationQueue.ofTimers) {
            do { try await ticker.sleepUntil(end) } catch { return }
            exchange.cancel()
        }
    }
}

/// A redirect, which a session's hook may change or refuse.
public struct HTTPRedirect: Sendable {
    /// The status code of the redirecting response.
    public let status: Int
    /// The address that redirects.
    public let from: String
    /// The address of the next request. Credentials for another origin have been removed.
    public var url: String
    /// The method of the next request.
    public var method: HTTPRequest.Method

    init(_ redirect: Redirect, status: Int) {
        self.status = status
        from = redirect.previous.description
        url = redirect.address.description
        method = redirect.method
    }
}

/// A request for credentials by a server or proxy.
public struct HTTPChallenge: Sendable {
    /// The scheme and host of the server; nil for the proxy.
    public let origin: String?
    /// The challenges that the session can answer, the strongest first.
    public let challenges: [AuthenticationChallenge]

    init(_ challenges: [AuthenticationChallenge], from peer: AuthenticationAttempts.Peer) {
        self.challenges = challenges
        origin = if case .origin(let origin) = peer { origin.description } else { nil }
    }
}

extension String {
    /// Returns a nonce of 128 random bits.
    static func nonce() -> String {
        String(UInt64.random(in: 0...UInt64.max), radix: 16) + String(UInt64.random(in: 0...UInt64.max), radix: 16)
    }
}
