import HTTPCaching
import HTTPTestServer
import HTTPTypes
import Operations
@testable import OperationsImages
@testable import OperationsNetworking
import TestSupport
import Testing

/// Tests of the order of writes to disk, and of lookups beside them.
@Suite(.timeLimit(.minutes(5))) struct ImageWritingTests {
    @Test func `a write is registered in the same step in which its image arrives`() async throws {
        try await HTTPTestServer.with(handler: { _ in .image(4, 2) }) { server in
            let loader = ImageLoader.plain { $0.cache = .inMemory() }
            // No write ends, so that each image in memory has a registered write.
            loader.pipeline.writes.isSuspended = true
            let (missing, isOver) = (Guarded(0), Guarded(false))
            let observer = TestThread {
                while !isOver.withLock({ $0 }) {
                    let difference = loader.pipeline.state.withLock { $0.memory.count - $0.writing.count }
                    if difference != 0 { missing.withLock { $0 = max($0, difference) } }
                }
            }
            await ImagePrefetcher((0..<500).map { "\(server.url)/\($0)" }, with: loader).waitUntilFinished()
            isOver.withLock { $0 = true }
            observer.join()
            #expect(missing.withLock { $0 } == 0 && loader.memoryCount == 500)
            loader.pipeline.writes.isSuspended = false
            await loader.waitUntilIdle()
            #expect(loader.pipeline.state.withLock { $0.writing.isEmpty })
        }
    }

    @Test func `a write keeps no file that it does not write`() throws {
        let loader = ImageLoader.plain { $0.cache = .inMemory() }
        let request = HTTPRequestDescription(.get, "http://a/")
        let key = ImageBoard.VariantKey(
            original: .init(request: request, name: "a", policy: .default),
            decoding: ImageDecodingOptions(maxPixelSize: 1))
        for isStored in [true, false] {
            let (gone, write) = try storing(key, isStored: isStored, in: loader.pipeline)
            #expect(gone.isGone == isStored && write.byteCount == (isStored ? 4 : 5))
        }
    }

    private func storing(
        _ key: ImageBoard.VariantKey, isStored: Bool, in pipeline: ImagePipeline
    ) throws -> (Weak, (byteCount: Int, body: @Sendable (HTTPCache) async -> Void)) {
        let image = DecodedImage(try #require(RasterImage(width: 1, height: 1, pixels: [0, 0, 0, 0])))
        let file = Original(bytes: [1], .init(encrypted: nil, response: nil, source: .disk, isStored: isStored))
        return (Weak(file), try #require(pipeline.storing(image, of: file, key, isFirst: true)))
    }

    @Test func `writes of a name run in the order of their registration`() async throws {
        let loader = ImageLoader.plain { $0.cache = .inMemory() }
        let pipeline = loader.pipeline
        let order = Journal<Int>()
        let writings = (0..<5).map { number in
            pipeline.state.withLock { state in
                pipeline.register(in: &state, "a") { _ in order.append(number) }
            }
        }
        for writing in writings.reversed() { pipeline.enqueue(try #require(writing)) }
        await loader.waitUntilIdle()
        #expect(order.entries == [0, 1, 2, 3, 4])
        #expect(pipeline.state.withLock { $0.writing.isEmpty })
    }
}
