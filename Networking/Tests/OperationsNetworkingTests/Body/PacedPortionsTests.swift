import NIOCore
@testable import OperationsNetworking
import TestSupport
import Testing

@Suite struct PacedPortionsTests {
    /// The idle limit sees each piece, and a cap spreads the pieces over time.
    @Test func `a large portion of a request body is sent in small pieces`() async throws {
        let (passed, gone) = (Journal<Int>(), Journal<Int>())
        let portions = AsyncStream<ByteBuffer> { continuation in
            continuation.yield(ByteBuffer(repeating: 7, count: 100_000))
            continuation.yield(ByteBuffer(repeating: 8, count: 10))
            continuation.finish()
        }
        let sending = Sending(
            piece: { 30_000 }, pass: { passed.append($0) }, whenSent: { _ in }, whenGone: { gone.append($0) })
        var iterator = PacedPortions(base: portions, sending: sending).makeAsyncIterator()
        var bytes: [UInt8] = []
        while let piece = try await iterator.next() { bytes += piece.readableBytesView }
        #expect(bytes == [UInt8](repeating: 7, count: 100_000) + [UInt8](repeating: 8, count: 10))
        #expect(passed.entries == [30_000, 30_000, 30_000, 10_000, 10])
        #expect(gone.entries == passed.entries)
    }
}
