import Foundation
import HTTPTestServer
import HTTPTypes
import NIOCore
import Operations
@testable import OperationsNetworking
import Testing

/// Chunks of bodies as collections of bytes.
@Suite(.timeLimit(.minutes(5))) struct HTTPBodyChunkTests {
    private let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 * 7) }

    /// A part of a buffer whose earlier bytes have been read: the indices of the buffer do not start at zero.
    private var chunk: HTTPBodyChunk {
        var buffer = ByteBuffer(bytes: [1, 2, 3] + bytes + [4])
        buffer.moveReaderIndex(forwardBy: 3)
        buffer.moveWriterIndex(to: buffer.writerIndex - 1)
        return HTTPBodyChunk(buffer)
    }

    @Test func `a chunk has the bytes of its buffer, and indices from zero`() {
        #expect(chunk.indices == 0..<1000)
        #expect(Array(chunk) == bytes && Data(chunk) == Data(bytes))
        #expect(chunk.elementsEqual(bytes) && (0..<1000).allSatisfy { chunk[$0] == bytes[$0] })
        #expect(Array(chunk[10..<20]) == Array(bytes[10..<20]))
        #expect(chunk.reversed().elementsEqual(bytes.reversed()))
        #expect(chunk.withUnsafeBytes { Array($0) } == bytes)
        #expect(chunk.withContiguousStorageIfAvailable { Array($0) } == bytes)
        #expect(chunk[10..<20].withContiguousStorageIfAvailable { Array($0) } == Array(bytes[10..<20]))
        #expect(String(decoding: HTTPBodyChunk("text".utf8), as: UTF8.self) == "text")
    }

    @Test func `chunks are equal when their bytes are`() {
        #expect(chunk == HTTPBodyChunk(bytes) && chunk.hashValue == HTTPBodyChunk(bytes).hashValue)
        #expect(chunk != HTTPBodyChunk(bytes.dropLast()))
        #expect(HTTPBodyChunk([]).isEmpty && Array(HTTPBodyChunk([])).isEmpty)
    }

    @Test func `a response body can be sent as a request body, without a copy of its chunks`() async throws {
        let body = LoopbackBody.pattern(length: 1 << 20)
        try await withServer({ request in
            request.method == .get ? LoopbackResponse(body: body) : .text(request.bodySHA256)
        }) { server in
            let queue = OperationQueue()
            let (source, session) = (HTTPStreamOperation(get(server.url + "/"), session: .plain()), HTTPSession.plain())
            queue.addOperation(source)
            let copy = HTTPDataOperation(
                HTTPRequestDescription(.put, server.url + "/"), sending: HTTPBodySource(source.body), as: .text,
                session: session)
            queue.addOperation(copy)
            _ = try await copy.value
            let put = try #require(server.requests.first { $0.method == .put })
            #expect(put.body == body.bytes)
        }
        let chunk = chunk
        let address = chunk.withUnsafeBytes { $0.baseAddress }
        #expect(HTTPBodyChunk.buffer(of: chunk).withUnsafeReadableBytes { $0.baseAddress } == address)
    }
}
