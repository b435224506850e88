#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import AsyncHTTPClient
import HTTPTestServer
import NIOCore
import TestSupport
import Testing

@Suite struct LoopbackBodyTests {
    @Test func `a part has the same bytes as the complete body, for each source`() throws {
        let bytes = (0..<200_000).map { UInt8($0 % 251) }
        let path = FileManager.default.temporaryDirectory.path() + "/loopback-\(UInt64.random(in: 0 ... .max))"
        try Data(bytes).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        for body in [LoopbackBody.bytes(bytes), .pattern(length: 200_000), try .file(path)] {
            #expect(body.length == 200_000 && body.bytes == bytes)
            let part = body[1000..<150_001]
            #expect(part.length == 149_001 && part.bytes == Array(bytes[1000..<150_001]))
            #expect(part[70_000..<70_010].bytes == Array(bytes[71_000..<71_010]))
            #expect(body[199_999..<300_000].bytes == Array(bytes[199_999...]))
            #expect(body[300_000..<300_001].length == 0)
        }
    }

    @Test func `an empty body has no bytes`() {
        #expect(LoopbackBody.empty.bytes == [] && LoopbackBody.pattern([], length: 5).length == 0)
        #expect(LoopbackBody.pattern(length: -1).length == 0)
    }

    @Test func `a file that is not a regular file is refused`() {
        #expect(throws: LoopbackError.self) { try LoopbackBody.file("/nowhere/at/all") }
        #expect(throws: LoopbackError.self) { try LoopbackBody.file("/") }
    }

    @Test(arguments: HTTPTestServer.Configuration.TransportProtocol.allCases)
    func `a long body is not written faster than it is read`(
        kind: HTTPTestServer.Configuration.TransportProtocol
    ) async throws {
        let length: Int64 = kind == .http1 ? 1 << 28 : 1 << 27
        try await HTTPTestServer.with(
            .init(protocol: kind), handler: { _ in LoopbackResponse(body: .pattern(length: length)) }
        ) { server in
            try await TrustingClient.with(server) { client in
                let response = try await client.get(server.url)
                var received: Int64 = 0
                var ahead: Int64 = 0
                for try await chunk in response.body {
                    received += Int64(chunk.readableBytes)
                    ahead = max(ahead, server.bodyBytesWritten - received)
                }
                #expect(received == length)
                await server.bodyBytesWritten(atLeast: length)
                #expect(server.bodyBytesWritten == length)
                // The bound covers the buffers of the system and of the client.
                #expect(ahead < 64 << 20)
            }
        }
    }

    @Test func `the server stops writing to a client that does not read`() async throws {
        try await HTTPTestServer.with(handler: { _ in LoopbackResponse(body: .pattern(length: 1 << 30)) }) { server in
            let client = try await RawClient.connect(to: server.port)
            try await client.pauseReading()
            try await client.send(FaultTests.get)
            await server.bodyBytesWritten(atLeast: 65536)
            try await client.close()
            await server.requestsInFlight(are: 0)
            #expect(server.bodyBytesWritten < 64 << 20)
        }
    }
}
