#if Networking
import HTTPTypes
import NIOCore

/// Writes responses to an HTTP/1.1 connection.
struct HTTP1Writer: ResponseWriter {
    let channel: any Channel
    let transport: Transport
    /// Whether a part of the request may not have been read yet.
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

    /// `Connection: close` in the head says it.
    func goAway() async throws {}

    func close() async throws {
        guard lingers else { return try await channel.close() }
        // Closed with something unread, the system would send a reset, which may overtake the answer. So the rest is
        // read and thrown away until the client has closed too, or the server is stopped.
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
#endif
