import AsyncHTTPClient
import Foundation
import NIOCore
@testable import OperationsNetworking
import Testing

/// The counting of sent bytes of a request body (rule R6).
@Suite(.timeLimit(.minutes(5))) struct SendingTests {
    private let operation = HTTPDataOperation(get("http://127.0.0.1"), session: .plain())

    private func stream(_ count: Int) throws -> OutgoingStream {
        try #require(operation.transfer.upload(OutgoingBody(description: .bytes(Data(count: count)))).stream)
    }

    @Test func `a portion is counted before its receiver can respond to it`() async throws {
        let stream = try stream(1000)
        var portions = stream.body.makeAsyncIterator()
        let last = try await portions.next()
        #expect(last?.readableBytes == 1000 && operation.transferProgress.sent == 1000)
        let end = try await portions.next()
        #expect(end == nil && operation.transferProgress.sent == 1000)
    }

    @Test func `bytes that an earlier exchange still sends do not count`() async throws {
        let (earlier, later) = (try stream(300), try stream(1000))
        for stream in [later, earlier] { for try await _ in stream.body {} }
        #expect(operation.transferProgress.sent == 1000 && operation.transferProgress.toSend == 1000)
        #expect(operation.metrics.sent == 1000)
    }
}
