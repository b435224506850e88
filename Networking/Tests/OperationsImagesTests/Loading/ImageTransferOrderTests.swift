import HTTPTypes
import HTTPTestServer
import Operations
@testable import OperationsImages
import OperationsNetworking
import TestSupport
import Testing

/// Tests of the order and the priority of transfers (rule I2).
@Suite(.timeLimit(.minutes(5))) struct ImageTransferOrderTests {
    typealias Order = OperationQueue.PriorityPolicy.Order

    @Test(arguments: [Order.firstInFirstOut, .lastInFirstOut], [false, true])
    func `transfers begin in the configured order`(order: Order, hasDisk: Bool) async throws {
        try await withHeldImages { server, gate in
            let loader = ImageLoader.plain {
                ($0.maxConcurrentTransfers, $0.order) = (1, order)
                $0.cache = hasDisk ? .inMemory() : nil
            }
            let first = loader.load(server.url + "/first")
            await gate.reached()
            let handles = (0..<6).map { loader.load("\(server.url)/\($0)") }
            // The transfers are queued after the lookups on disk, if the loader has a cache.
            await loader.pipeline.lookups.waitUntilAllOperationsAreFinished()
            gate.open()
            for handle in handles + [first] { _ = try await handle.value }
            let expected = (0..<6).map { "/\($0)" }
            let order = order == .lastInFirstOut ? expected.reversed() : expected
            #expect(server.requests.map(\.path) == ["/first"] + order)
        }
    }

    @Test func `changes of order and width take effect immediately`() async throws {
        try await withHeldImages { server, gate in
            let loader = ImageLoader.plain { $0.maxConcurrentTransfers = 1 }
            let first = loader.load(server.url + "/first")
            await gate.reached()
            let handles = (0..<5).map { loader.load("\(server.url)/\($0)") }
            #expect(loader.order == .firstInFirstOut && loader.maxConcurrentTransfers == 1)
            loader.order = .lastInFirstOut
            loader.maxConcurrentTransfers = 3
            await gate.reached(3)
            #expect(Set(server.requests.map(\.path)) == ["/first", "/4", "/3"])
            loader.maxConcurrentTransfers = -5
            #expect(loader.order == .lastInFirstOut && loader.maxConcurrentTransfers == 1)
            gate.open()
            for handle in handles + [first] { _ = try await handle.value }
        }
    }

    @Test func `a transfer has the highest priority of its requests, for all sizes`() async throws {
        let loader = ImageLoader.plain()
        loader.isSuspended = true
        let url = "http://127.0.0.1:1/a"
        let low = loader.load(url, options: .thumbnail(10), priority: .low)
        let transfer = try #require(low.transfer)
        #expect(transfer.queuePriority == .low)
        let high = loader.load(url, priority: .veryHigh)
        #expect(high.transfer === transfer && transfer.queuePriority == .veryHigh)
        let same = loader.load(url, priority: .high)
        high.priority = .normal
        #expect(transfer.queuePriority == .high)
        same.cancel()
        #expect(transfer.queuePriority == .normal)
        high.cancel()
        #expect(transfer.queuePriority == .low && low.priority == .low)
        low.priority = .veryLow
        #expect(transfer.queuePriority == .veryLow)
        loader.cancelAll()
        #expect(transfer.isCancelled)
    }

    @Test func `a suspended loader serves images that need no transfer`() async throws {
        try await HTTPTestServer.with(handler: { _ in .image(4, 2) }) { server in
            let loader = ImageLoader.plain { $0.cache = .inMemory() }
            _ = try await loader.load(server.url + "/a").value
            await loader.waitUntilIdle()
            loader.isSuspended = true
            let waiting = loader.load(server.url + "/b")
            #expect(await loader.load(server.url + "/a").ending == "4x2 memory")
            loader.clearMemory()
            #expect(await loader.load(server.url + "/a").ending == "4x2 disk")
            #expect(server.requests.count == 1)
            loader.isSuspended = false
            #expect(await waiting.ending == "4x2 network")
        }
    }

    @Test func `a paused transfer resumes at its position`() async throws {
        let gate = LoopbackGate()
        let file = LoopbackResponse.image(4, 2, padding: 99_996).body
        let resource = LoopbackResource(file, contentType: "image/png", eTag: "\"one\"")
        try await HTTPTestServer.with(handler: { request in
            let response = resource.response(to: request)
            return request.number == 1 ? response.with(.stalls(.afterBody(60_000), until: gate)) : response
        }) { server in
            let loader = ImageLoader.plain()
            let handle = loader.load(server.url + "/a")
            let transfer = try #require(handle.transfer)
            for await progress in transfer.transferProgressUpdates where progress.received == 60_000 { break }
            transfer.pause()
            await server.openConnections(are: 0)
            #expect(handle.result == nil)
            transfer.resume()
            #expect(await handle.ending == "4x2 network")
            #expect(server.requests.last?.fields[.range] == "bytes=60000-")
        }
    }
}
