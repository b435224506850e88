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
            piece: { 30_000 }, pass: { passed.append($0) }, whenSent: { _ in }, whenGone: { gone.append($0) },
            untilTaken: {})
        var iterator = PacedPortions(base: portions, sending: sending).makeAsyncIterator()
        var bytes: [UInt8] = []
        while let piece = try await iterator.next() { bytes += piece.readableBytesView }
        #expect(bytes == [UInt8](repeating: 7, count: 100_000) + [UInt8](repeating: 8, count: 10))
        #expect(passed.entries == [30_000, 30_000, 30_000, 10_000, 10])
        #expect(gone.entries == passed.entries)
    }

    @Test func `a body is at most a megabyte ahead of late event loops`() async throws {
        let source = AsyncStream<ByteBuffer> { continuation in
            for _ in 1...100 { continuation.yield(ByteBuffer(repeating: 7, count: 100_000)) }
            continuation.finish()
        }
        // The number of bytes that were handed out since the loops had taken all, at each portion and at each wait.
        let (ahead, waits) = (Guarded(0), Journal<Int>())
        let sending = Sending(
            piece: { 30_000 }, pass: { _ in },
            whenSent: { count in
                ahead.withLock { $0 += count }
                #expect(ahead.withLock { $0 } < 1 << 20 + 30_000)
            },
            whenGone: { _ in },
            untilTaken: {
                waits.append(ahead.withLock { $0 })
                ahead.withLock { $0 = 0 }
            })
        var (iterator, count) = (PacedPortions(base: source, sending: sending).makeAsyncIterator(), 0)
        while let piece = try await iterator.next() { count += piece.readableBytes }
        #expect(count == 10_000_000)
        #expect(waits.entries.count == 9 && waits.entries.allSatisfy { $0 >= 1 << 20 })
    }
}
