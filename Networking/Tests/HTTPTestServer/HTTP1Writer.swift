import HTTPTypes
import NIOCore

/// A writer of responses to an HTTP/1.1 connection.
struct HTTP1Writer: ResponseWriter {
    let channel: any Channel
    let transport: Transport
    /// Whether the server may not have read the complete request.
    var lingers = false

    func writeInterim(_ response: HTTPResponse) async throws {
        try await channel.writeAndFlush(HTTP1Encoding.interim(response))
    }

    func writeHead(_ head: ResponseScript.Head) async throws {
        try await channel.writeAndFlush(HTTP1Encoding.head(head))
    }

    func writeBody(_ bytes: ByteBuffer, isChunked: Bool) async throws {
        guard isChunked else { return try await channel.writeAndFlush(bytes) }
        let parts = HTTP1Encoding.chunk(bytes)
        for part in parts.dropLast() { channel.write(part, promise: nil) }
        try await channel.writeAndFlush(parts.last ?? ByteBuffer())
    }

    func writeMalformedChunk() async throws { try await channel.writeAndFlush(HTTP1Encoding.malformedChunk) }

    func end(isChunked: Bool, keepsConnection: Bool) async throws {
        if isChunked { try await channel.writeAndFlush(HTTP1Encoding.lastChunk) }
        if !keepsConnection { try await close() }
    }

    /// The field `Connection: close` in the head makes the announcement.
    func goAway() async throws {}

    func close() async throws {
        guard lingers else { return try await channel.close() }
        // If unread bytes remain at the close, the system sends a reset, which can overtake the response. The server
        // therefore reads and discards bytes until the client closes the connection or the server stops.
        try await channel.close(mode: .output)
        try? await channel.closeFuture.get()
    }

    func hangUp() async throws {
        transport.hangUp()
        try? await channel.closeFuture.get()
    }

    func reset() async throws { try await transport.reset() }
    func resetConnection() async throws { try await transport.reset() }
}
