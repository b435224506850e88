import HTTPTypes
import HTTPTestServer
import Operations
import OperationsImages
import OperationsNetworking
import TestSupport
import Testing

/// Tests of cancellation at every stage of a request (rule I2).
@Suite(.timeLimit(.minutes(5))) struct ImageCancellingTests {
    @Test func `a request cancelled before its transfer sends nothing`() async throws {
        try await HTTPTestServer.with(handler: { _ in .image(4, 2) }) { server in
            let loader = ImageLoader.plain()
            loader.isSuspended = true
            let handle = loader.load("http://me:secret@127.0.0.1:\(server.port)/a")
            handle.cancel()
            let failure = await handle.failure
            #expect(failure?.isCancellation == true && failure?.url == server.url + "/a")
            loader.isSuspended = false
            await loader.waitUntilIdle()
            #expect(server.requests.isEmpty)
            #expect(await loader.load(server.url + "/a").ending == "4x2 network")
        }
    }

    @Test func `a request cancelled during its transfer closes the connection`() async throws {
        let gate = LoopbackGate()
        try await HTTPTestServer.with(handler: { _ in
            LoopbackResponse.image(4, 2, padding: 1000).with(.stalls(.afterBody(10), until: gate))
        }) { server in
            let loader = ImageLoader.plain()
            let handles = (0..<3).map { loader.load(server.url + "/a", options: .thumbnail($0 + 1)) }
            await gate.reached()
            handles[0].cancel()
            #expect(await handles[0].failure?.isCancellation == true)
            #expect(handles[1].result == nil && handles[1].transfer?.isCancelled == false)
            handles[1].cancel()
            handles[2].cancel()
            for handle in handles { #expect(await handle.failure?.isCancellation == true) }
            await loader.waitUntilIdle()
            await server.openConnections(are: 0)
            #expect(server.requests.count == 1 && handles[1].transfer == nil)
        }
    }

    @Test func `decoding stops when its last request is cancelled`() async throws {
        let (begun, mayContinue) = (AsyncGate(), Gate())
        let decoder = StubDecoder(begun: begun, mayContinue: mayContinue)
        try await HTTPTestServer.with(handler: { _ in .image(4, 2) }) { server in
            let loader = ImageLoader.plain(decoder)
            let (one, other) = (loader.load(server.url + "/a"), loader.load(server.url + "/a"))
            await begun.pass()
            one.cancel()
            #expect(await one.failure?.isCancellation == true)
            other.cancel()
            #expect(await other.failure?.isCancellation == true)
            mayContinue.open()
            await loader.waitUntilIdle()
            #expect(decoder.givenUp.withLock { $0 } == 1 && loader.memoryCount == 0)
            // The cancellation is not remembered as a failure.
            #expect(await loader.load(server.url + "/a").ending == "4x2 network")
        }
    }

    @Test func `a request cancelled during decoding does not affect other requests`() async throws {
        let (begun, mayContinue) = (AsyncGate(), Gate())
        let decoder = StubDecoder(begun: begun, mayContinue: mayContinue)
        try await HTTPTestServer.with(handler: { _ in .image(4, 2) }) { server in
            let loader = ImageLoader.plain(decoder)
            let (one, other) = (loader.load(server.url + "/a"), loader.load(server.url + "/a"))
            await begun.pass()
            one.cancel()
            mayContinue.open()
            #expect(await other.ending == "4x2 network")
            #expect(await one.ending == "cancelled" && decoder.givenUp.withLock { $0 } == 0)
        }
    }

    @Test func `a cancellation after the end has no effect`() async throws {
        try await HTTPTestServer.with(handler: { _ in .image(4, 2) }) { server in
            let loader = ImageLoader.plain()
            let handle = loader.load(server.url + "/a")
            #expect(await handle.ending == "4x2 network")
            handle.cancel()
            handle.priority = .high
            #expect(await handle.ending == "4x2 network" && handle.priority == .high)
        }
    }

    @Test func `cancelAll ends each request at every stage`() async throws {
        try await withHeldImages { server, gate in
            let loader = ImageLoader.plain { $0.maxConcurrentTransfers = 2 }
            let handles = (0..<50).map { loader.load("\(server.url)/\($0 % 20)", options: .thumbnail($0 % 3 + 1)) }
            await gate.reached(2)
            loader.cancelAll()
            for handle in handles { #expect(await handle.failure?.isCancellation == true) }
            await loader.waitUntilIdle()
            #expect(loader.queue.snapshot().executing + loader.queue.snapshot().waiting == 0)
            gate.open()
            #expect(await loader.load(server.url + "/1").ending == "4x2 network")
        }
    }

    @Test func `a request after the last cancellation starts a new transfer`() async throws {
        let gate = LoopbackGate()
        try await HTTPTestServer.with(handler: { request in
            if request.number == 1 { try? await gate.pass() }
            return .image(4, 2)
        }) { server in
            let loader = ImageLoader.plain()
            let first = loader.load(server.url + "/a")
            await gate.reached()
            first.cancel()
            let second = loader.load(server.url + "/a")
            #expect(await second.ending == "4x2 network")
            #expect(await first.ending == "cancelled")
        }
    }
}
