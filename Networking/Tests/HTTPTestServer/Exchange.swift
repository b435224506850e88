import HTTPTypes
import NIOCore

/// The destination of the steps of a response: an HTTP/1.1 connection or an HTTP/2 stream. A write returns when the
/// system has accepted the bytes, so that a slow reader slows the writer down.
protocol ResponseWriter: Sendable {
    func writeInterim(_ response: HTTPResponse) async throws
    func writeHead(_ head: ResponseScript.Head) async throws
    func writeBody(_ bytes: ByteBuffer, isChunked: Bool) async throws
    func writeMalformedChunk() async throws
    /// Marks the end of the response.
    func end(isChunked: Bool, keepsConnection: Bool) async throws
    /// Announces that the connection accepts no more requests.
    func goAway() async throws
    func close() async throws
    func hangUp() async throws
    func reset() async throws
    func resetConnection() async throws
}

/// The execution of a script on a writer.
struct Exchange<Writer: ResponseWriter>: Sendable {
    let writer: Writer
    let ledger: Ledger

    /// - Throws: The error of a write if the connection is closed, and `CancellationError` if the connection closes
    ///   during a stall.
    func play(_ script: ResponseScript, body: LoopbackBody) async throws {
        for step in script.steps {
            switch step {
            case .interim(let response): try await writer.writeInterim(response)
            case .head:
                if script.goesAway { try await writer.goAway() }
                try await writer.writeHead(script.head)
            case .body(let range): try await write(body, range, script)
            case .malformedChunk: try await writer.writeMalformedChunk()
            case .wait(let gate): try await gate.pass()
            case .end:
                try await writer.end(isChunked: script.head.isChunked, keepsConnection: script.keepsConnection)
            case .close: try await writer.close()
            case .hangUp: try await writer.hangUp()
            case .reset: try await writer.reset()
            case .resetConnection: try await writer.resetConnection()
            }
        }
    }

    private func write(_ body: LoopbackBody, _ range: Range<Int64>, _ script: ResponseScript) async throws {
        var offset = range.lowerBound
        // Each portion is due at a multiple of the interval after the first portion, so that late wake-ups do not add
        // up.
        let start = ContinuousClock.now
        var portions = 0
        while offset < range.upperBound {
            var end = range.upperBound
            if let (bytes, interval) = script.pace {
                if portions > 0 { try await Task.sleep(until: start + interval * portions, clock: .continuous) }
                portions += 1
                end = min(end, offset + Int64(bytes))
            }
            while offset < end {
                guard let chunk = body.chunk(at: offset, upTo: end) else { return try await writer.resetConnection() }
                try await writer.writeBody(chunk, isChunked: script.head.isChunked)
                ledger.wrote(chunk.readableBytes)
                offset += Int64(chunk.readableBytes)
            }
        }
    }
}
