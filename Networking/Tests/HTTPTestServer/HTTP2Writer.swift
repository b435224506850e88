import HTTPTypes
import NIOCore
import NIOHPACK
import NIOHTTP2

/// A writer of a response to a stream of an HTTP/2 connection.
struct HTTP2Writer: ResponseWriter {
    let channel: any Channel
    /// The connection of the stream.
    let transport: Transport

    func writeInterim(_ response: HTTPResponse) async throws {
        try await write(headers(status: String(response.status.code), response.headerFields))
    }

    func writeHead(_ head: ResponseScript.Head) async throws {
        var headers = headers(status: head.hasMalformedStatus ? "one" : String(head.status.code), head.fields)
        for length in head.lengths { headers.add(name: "content-length", value: String(length)) }
        if head.hasMalformedField { headers.add(name: "X-Malf\u{0}rmed name", value: "\u{1}\u{0}value") }
        if let bytes = head.oversizedField {
            headers.add(name: "x-oversized", value: String(repeating: "x", count: bytes))
        }
        try await write(headers)
    }

    /// Returns the headers without the fields of HTTP/1.1 connections, which HTTP/2 forbids.
    private func headers(status: String, _ fields: HTTPFields) -> HPACKHeaders {
        var headers = HPACKHeaders([(":status", status)])
        for field in fields {
            let name = field.name.canonicalName
            if !["connection", "transfer-encoding", "keep-alive"].contains(name) {
                headers.add(name: name, value: field.value)
            }
        }
        return headers
    }

    private func write(_ headers: HPACKHeaders) async throws {
        try await channel.writeAndFlush(HTTP2Frame.FramePayload.headers(.init(headers: headers)))
    }

    func writeBody(_ bytes: ByteBuffer, isChunked: Bool) async throws {
        try await channel.writeAndFlush(HTTP2Frame.FramePayload.data(.init(data: .byteBuffer(bytes))))
    }

    /// HTTP/2 has no chunks. The next step of the script closes the connection.
    func writeMalformedChunk() async throws {}

    func end(isChunked: Bool, keepsConnection: Bool) async throws {
        let last = HTTP2Frame.FramePayload.Data(data: .byteBuffer(ByteBuffer()), endStream: true)
        try await channel.writeAndFlush(HTTP2Frame.FramePayload.data(last))
    }

    func goAway() async throws {
        let streamID = try await channel.getOption(HTTP2StreamChannelOptions.streamID).get()
        let frame = HTTP2Frame(
            streamID: .rootStream, payload: .goAway(lastStreamID: streamID, errorCode: .noError, opaqueData: nil))
        try await transport.channel.writeAndFlush(frame)
    }

    func close() async throws {
        try? await goAway()
        try await transport.channel.close()
    }

    func hangUp() async throws {
        transport.hangUp()
        try? await transport.channel.closeFuture.get()
    }

    func reset() async throws {
        try await channel.writeAndFlush(HTTP2Frame.FramePayload.rstStream(.internalError))
    }

    func resetConnection() async throws { try await transport.reset() }
}
