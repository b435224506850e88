import HTTPCaching
import HTTPTestServer
import Operations
@testable import OperationsImages
import OperationsNetworking
import TestSupport
import Testing

/// Tests of the limit on the bytes that wait for decoding or for the disk.
@Suite(.timeLimit(.minutes(5))) struct ImageBacklogTests {
    private func isEmpty(_ loader: ImageLoader) -> Bool {
        loader.pipeline.state.withLock { $0.backlog.byteCount == 0 }
    }

    @Test func `no transfer and no lookup begins while too many bytes wait`() async throws {
        let (begun, mayContinue) = (AsyncGate(), Gate())
        let decoder = StubDecoder(begun: begun, mayContinue: mayContinue)
        try await HTTPTestServer.with(handler: { _ in .image(4, 2, padding: 1_000) }) { server in
            let loader = ImageLoader.plain(decoder) { ($0.cache, $0.backlogLimit) = (.inMemory(), 1_000) }
            loader.pipeline.writes.isSuspended = true
            let first = loader.load(server.url + "/a")
            await begun.pass()
            let second = loader.load(server.url + "/b")
            #expect(loader.queue.isSuspended && loader.pipeline.lookups.isSuspended && !loader.isSuspended)
            mayContinue.open()
            #expect(await first.ending == "4x2 network")
            await loader.pipeline.decodings.waitUntilAllOperationsAreFinished()
            #expect(loader.queue.isSuspended && second.result == nil && server.requests.count == 1)
            loader.pipeline.writes.isSuspended = false
            #expect(await second.ending == "4x2 network")
        }
    }

    @Test func `a full backlog delays images, and never stops them`() async throws {
        try await HTTPTestServer.with(handler: { $0.path.hasSuffix("7") ? .image(0, 2) : .image(4, 2) }) { server in
            let loader = ImageLoader.plain { ($0.cache, $0.backlogLimit) = (.inMemory(), 0) }
            for round in 0..<3 {
                let handles = (0..<100).map { number in
                    loader.load("\(server.url)/\(round)/\(number / 2)", options: .thumbnail(number % 2 + 1))
                }
                for (number, handle) in handles.enumerated() where number % 5 == 0 { handle.cancel() }
                for handle in handles { _ = await handle.ending }
                await loader.waitUntilIdle()
                loader.clearMemory()
            }
            while !isEmpty(loader), !Task.isCancelled { await Task.yield() }
            #expect(isEmpty(loader) && !loader.isSuspended)
        }
    }

    @Test func `a decoding that is cancelled before its start leaves the backlog`() async throws {
        try await HTTPTestServer.with(handler: { _ in .image(4, 2) }) { server in
            let loader = ImageLoader.plain { $0.backlogLimit = 0 }
            loader.pipeline.decodings.isSuspended = true
            let handle = loader.load(server.url + "/a")
            while isEmpty(loader), !Task.isCancelled { await Task.yield() }
            handle.cancel()
            loader.pipeline.decodings.isSuspended = false
            #expect(await loader.load(server.url + "/b").ending == "4x2 network")
        }
    }

    @Test func `the end of a full backlog does not resume a loader that the caller has suspended`() async throws {
        let (begun, mayContinue) = (AsyncGate(), Gate())
        let decoder = StubDecoder(begun: begun, mayContinue: mayContinue)
        try await HTTPTestServer.with(handler: { _ in .image(4, 2) }) { server in
            let loader = ImageLoader.plain(decoder) { $0.backlogLimit = 0 }
            let first = loader.load(server.url + "/a")
            await begun.pass()
            loader.isSuspended = true
            mayContinue.open()
            #expect(await first.ending == "4x2 network")
            while loader.pipeline.lookups.isSuspended, !Task.isCancelled { await Task.yield() }
            #expect(loader.queue.isSuspended && loader.isSuspended && isEmpty(loader))
            loader.isSuspended = false
            #expect(await loader.load(server.url + "/b").ending == "4x2 network")
        }
    }
}
