import AsyncHTTPClient
import HTTPCaching
import HTTPCore
import Operations
import HTTPTypes
import NIOCore

extension Transfer {
    // MARK: - The response's body

    enum Reception {
        case complete, askAnew
        /// The server has sent a part of the rest. Another request is necessary for the bytes after it.
        case continued
    }

    /// Receives the body of the response, from its beginning or from the point at which an earlier attempt stopped.
    func receive(
        _ reply: Reply, _ resume: ResumePoint?, at address: HTTPAddress
    ) async throws -> Reception {
        let head = reply.head
        var announced = try announcedLength(head)
        if let coding = head.headerFields.foreignTransferCoding {
            throw TransferFailure(.undecodableEncoding("the transfer coding \(coding) is unknown"))
        }
        var offset: Int64 = 0
        // The length of the whole body if this response is a part of it.
        var whole: Int64?
        switch resume?.verdict(on: head) {
        case nil:
            // The request asked for no part, and a part must not be taken for the whole body.
            if head.status == .partialContent, request.fields[.range] == nil {
                throw TransferFailure(.unacceptableStatus(head.status.code))
            }
        case .unrelated, .startOver: break
        case .proceed(let length, let total):
            (offset, announced, whole) = (resume?.received ?? 0, length, total)
        case .complete:
            try await discard(reply.body)
            try sink.finish()
            // The response to the range request has no body, so it does not describe the body that is present.
            record.withLock { $0.response = $0.bodyHead ?? $0.response }
            return .complete
        case .askAgain:
            try await discard(reply.body)
            try sink.forget()
            return .askAnew
        }
        let isDecoded = !reply.isFromCache && head.status != .partialContent
        let decoder = isDecoded ? BodyDecoder(for: head, length: announced, request.limits.inflation) : nil
        let length = decoder == nil ? announced : nil
        record.withLock { ($0.bodyHead, $0.isInBody) = (head, true) }
        try sink.begin(at: offset, length: length, head, at: address)
        record.withLock { record in
            record.received = offset
            record.expected = whole ?? length.map { $0 + offset }
        }
        report(.response(head))
        let writer =
            reply.storing == nil ? nil : await cacheWriter(for: reply, length: length, isDecoded: decoder != nil)
        if writer == nil, revalidation != nil {
            // The body has no other use.
            try await discard(reply.body)
            return .complete
        }
        do {
            switch reply.body {
            case .cache(let stored): try await take(stored)
            case .network(let body): try await take(body, announced, offset: offset, decoder, writer)
            }
            // A server may send less than the requested range (RFC 9110, section 15.3.7).
            if let whole, record.withLock({ $0.received }) < whole { return .continued }
            try sink.finish()
        } catch {
            if let writer { await writer.abandon() }
            throw error
        }
        if let writer { await writer.finish() }
        // The end of the body determines the length if the server did not state it.
        record.withLock { $0.expected = $0.received }
        return .complete
    }

    private func take(_ stored: CachedBody) async throws {
        do {
            for try await piece in stored.pieces() {
                try checkNotStopped()
                try await take(ByteBuffer(bytes: piece))
            }
        } catch let error as HTTPCacheError {
            throw TransferFailure(.connection(error))
        }
    }

    /// - Parameter length: The length as it is sent, compressed or not; nil if the server does not state it.
    private func take(
        _ body: IncomingBody, _ length: Int64?, offset: Int64, _ decoder: BodyDecoder?, _ writer: CacheWriter?
    ) async throws {
        var count: Int64 = 0
        let pacing = pacing()
        do {
            while let bytes = try await next(of: body) {
                count += Int64(bytes.readableBytes)
                try await take(bytes, pacing, decoder, writer)
            }
        } catch let error where length == count && Self.isEnd(error) {
            // The body is complete. The server closed the connection during the upload, after its response.
        } catch let error where length.map({ count < $0 }) == true && Self.isEnd(error) {
            throw TransferFailure(.truncated(received: offset + count, expected: length.map { $0 + offset }))
        }
        try checkNotStopped()
        if let length, count != length {
            throw TransferFailure(.truncated(received: offset + count, expected: length + offset))
        }
        try decoder?.finish()
    }

    /// Returns the length of the body as it is sent, compressed or not; nil if the server does not state it.
    func announcedLength(_ head: HTTPResponse) throws -> Int64? {
        switch BodyLength.announced(by: head, to: request.method) {
        case .length(let length): return length
        case .unknown: return nil
        case .invalid: throw TransferFailure(.truncated(received: 0, expected: nil))
        }
    }

    /// Writes a portion at the rate of the caps. While the task waits here, almost no further bytes are read.
    private func take(
        _ bytes: ByteBuffer, _ pacing: Pacing, _ decoder: BodyDecoder?, _ writer: CacheWriter?
    ) async throws {
        guard pacing.isCapped else {
            passed(bytes.readableBytes, pacing)
            return try await take(bytes, decoder, writer)
        }
        var left = bytes
        while let piece = left.readSlice(length: min(left.readableBytes, pacing.piece)), piece.readableBytes > 0 {
            try await waitingForOthers { try await inTask { try await pacing.pass(piece.readableBytes) } }
            passed(piece.readableBytes, pacing)
            try await take(piece, decoder, writer)
        }
    }

    private func passed(_ count: Int, _ pacing: Pacing) {
        let now = session.ticker.now()
        pacing.passed(count, at: now)
        record.withLock { record in
            record.meter.record(count, at: now.wholeNanoseconds)
            record.lastActivity = now
        }
    }

    private func take(_ bytes: ByteBuffer, _ decoder: BodyDecoder?, _ writer: CacheWriter?) async throws {
        guard let decoder else { return try await take(bytes, writer) }
        decoder.receive(bytes)
        while let portion = try decoder.next() {
            try await take(portion, writer)
            // A small input may inflate to a large output, so a stop must not wait for its end.
            try checkNotStopped()
        }
    }

    private func take(_ bytes: ByteBuffer, _ writer: CacheWriter? = nil) async throws {
        // A slow disk is no reason for a time limit.
        if let writer {
            let isStored = await waitingForOthers { await writer.write(bytes.readableBytesView) }
            if !isStored, revalidation != nil { throw CancellationError() }
        }
        let count = Int64(bytes.readableBytes)
        let now = session.ticker.now()
        record.withLock { record in
            record.lastActivity = now
            record.received += count
            record.metrics.received += count
        }
        // Notify first: a slow consumer must not delay the report of bytes that have arrived.
        reportProgress()
        try waitingForOthers { try sink.write(bytes) }
        while !sink.hasRoom {
            try await untilRoom()
            try checkNotStopped()
        }
    }

    private func untilRoom() async throws {
        record.withLock { $0.waitsForReader = true }
        defer {
            let now = session.ticker.now()
            record.withLock { ($0.waitsForReader, $0.lastActivity) = (false, now) }
        }
        try await inTask { [sink] in await sink.untilRoom() }
    }

    /// Runs `body` while the idle limit is suspended, because the server is not the cause of the delay.
    func waitingForOthers<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        beginWaitingForOthers()
        defer { endWaitingForOthers() }
        return try await body()
    }

    private func waitingForOthers(_ body: () throws -> Void) rethrows {
        beginWaitingForOthers()
        defer { endWaitingForOthers() }
        try body()
    }

    func beginWaitingForOthers() { record.withLock { $0.waitsForOthers += 1 } }

    func endWaitingForOthers() {
        let now = session.ticker.now()
        record.withLock { record in
            record.waitsForOthers -= 1
            record.lastActivity = now
        }
    }

    /// Whether the error is an early end: the server has closed the connection, or the parser found an early end.
    private static func isEnd(_ error: any Error) -> Bool {
        !(error is CancellationError) && (error as? HTTPClientError) != .cancelled && !(error is TransferFailure)
            && !(error is HTTPError)
    }
}
