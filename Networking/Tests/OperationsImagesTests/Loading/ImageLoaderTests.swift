import HTTPTypes
import HTTPTestServer
import Operations
import OperationsImages
import OperationsNetworking
import OperationsTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct ImageLoaderTests {
    /// An object that opens a gate when it is deallocated.
    private final class Sentinel: Sendable {
        private let gate: AsyncGate
        init(_ gate: AsyncGate) { self.gate = gate }
        deinit { gate.open() }
    }

    @Test func `ten requests for three sizes share one transfer and three decodings`() async throws {
        let gate = LoopbackGate()
        let decoder = StubDecoder()
        try await HTTPTestServer.with(handler: { _ in
            try? await gate.pass()
            return .image(400, 200)
        }) { server in
            let loader = ImageLoader.plain(decoder)
            let sizes = [100, 50, nil]
            let handles = (0..<10).map { index in
                loader.load(
                    server.url + "/a",
                    options: ImageLoadOptions(decoding: ImageDecodingOptions(maxPixelSize: sizes[index % 3])))
            }
            await gate.reached()
            gate.open()
            for (index, handle) in handles.enumerated() {
                let loaded = try await handle.value
                #expect(loaded.image.width == sizes[index % 3] ?? 400 && loaded.source == .network)
                #expect(loaded.url == server.url + "/a")
            }
            #expect(server.requests.count == 1)
            #expect(Set(decoder.calls.entries.map(\.maxPixelSize)) == Set(sizes) && decoder.calls.entries.count == 3)
        }
    }

    @Test func `a size requested during the decoding of another size needs no transfer`() async throws {
        let (begun, mayContinue) = (AsyncGate(), Gate())
        let decoder = StubDecoder(begun: begun, mayContinue: mayContinue)
        try await HTTPTestServer.with(handler: { _ in .image(400, 200) }) { server in
            let loader = ImageLoader.plain(decoder)
            let whole = loader.load(server.url + "/a")
            await begun.pass()
            let small = loader.load(server.url + "/a", options: .thumbnail(40))
            mayContinue.open()
            #expect(await whole.ending == "400x200 network")
            #expect(await small.ending == "40x20 network")
            #expect(server.requests.count == 1)
        }
    }

    @Test func `a loaded image is immediately available in memory`() async throws {
        let decoder = StubDecoder()
        try await HTTPTestServer.with(handler: { _ in .image(4, 2) }) { server in
            let loader = ImageLoader.plain(decoder)
            #expect(loader.imageInMemory(server.url + "/a") == nil)
            _ = try await loader.load(server.url + "/a").value
            #expect(loader.imageInMemory(server.url + "/a")?.width == 4)
            #expect(loader.imageInMemory(server.url + "/a", options: .thumbnail(2)) == nil)
            let again = loader.load(server.url + "/a")
            #expect((try? again.result?.get().source) == .memory)
            #expect(await again.ending == "4x2 memory")
            for await _ in again.progressUpdates { Issue.record("nothing is transferred") }
            loader.clearMemory()
            #expect(loader.imageInMemory(server.url + "/a") == nil && loader.memoryByteCount == 0)
            #expect(server.requests.count == 1 && decoder.calls.entries.count == 1)
        }
    }

    @Test func `memory stays within its limits, and keeps the most recently used images`() async throws {
        try await HTTPTestServer.with(handler: { .image($0.path == "/large" ? 100 : 10, 10) }) { server in
            let loader = ImageLoader.plain { ($0.memoryLimit, $0.memoryCountLimit) = (1300, 3) }
            for name in ["a", "b", "c"] { _ = try await loader.load("\(server.url)/\(name)").value }
            #expect(loader.memoryCount == 3 && loader.memoryByteCount == 1200)
            #expect(loader.imageInMemory(server.url + "/a") != nil)
            _ = try await loader.load(server.url + "/d").value
            #expect(loader.memoryCount == 3 && loader.imageInMemory(server.url + "/b") == nil)
            #expect(await loader.load(server.url + "/large").ending == "100x10 network")
            #expect(loader.imageInMemory(server.url + "/large") == nil && loader.memoryByteCount == 1200)
        }
    }

    @Test func `addresses with the same cache key share an image`() async throws {
        try await HTTPTestServer.with(handler: { _ in .image(4, 2) }) { server in
            let loader = ImageLoader.plain {
                $0.cacheKey = { url in url.split(separator: "?").first.map(String.init) ?? url }
            }
            _ = try await loader.load(server.url + "/a?signature=1").value
            #expect(await loader.load(server.url + "/a?signature=2").ending == "4x2 memory")
            #expect(server.requests.count == 1)
        }
    }

    @Test func `progress is reported in steps, and ends with the image`() async throws {
        let gate = LoopbackGate()
        try await HTTPTestServer.with(handler: { _ in
            LoopbackResponse.image(4, 2, padding: 999_996).with(.stalls(.afterBody(500_000), until: gate))
        }) { server in
            let loader = ImageLoader.plain { $0.minimumProgressStep = 0.1 }
            loader.isSuspended = true
            let handle = loader.load(server.url + "/a")
            let reports = handle.progressUpdates
            loader.isSuspended = false
            await gate.reached()
            let late = handle.progressUpdates
            gate.open()
            for stream in [reports, late] {
                var (sum, count, last) = (Int64(0), 0, Int64(0))
                for await report in stream {
                    (sum, count, last) = (sum + report.newBytes, count + 1, report.completedBytes)
                    #expect(report.totalBytes == 1_000_000)
                }
                #expect(sum == 1_000_000 && last == 1_000_000 && count <= 12)
            }
            #expect(await handle.ending == "4x2 network")
        }
    }

    @Test func `a request that no task awaits any more is cancelled, and other requests for its image continue`()
        async throws
    {
        for isPrefetched in [true, false] {
            try await withHeldImages { server, gate in
                let loader = ImageLoader.plain()
                let ahead = isPrefetched ? ImagePrefetcher([server.url + "/a"], with: loader) : nil
                let handle = loader.load(server.url + "/a")
                let tasks = (0..<2).map { _ in Task { await handle.failure?.isCancellation } }
                await gate.reached()
                while handle.promise.waiterCount != 2 { await Task.yield() }
                let transfer = handle.transfer
                tasks[0].cancel()
                while handle.promise.waiterCount != 1 { await Task.yield() }
                #expect(handle.result == nil && transfer?.isCancelled == false)
                tasks[1].cancel()
                for task in tasks { #expect(await task.value == true) }
                #expect(handle.result != nil && transfer?.isCancelled == !isPrefetched)
                gate.open()
                await loader.waitUntilIdle()
                #expect(await loader.load(server.url + "/a").ending == (isPrefetched ? "4x2 memory" : "4x2 network"))
                #expect(ahead?.progress.failed ?? 0 == 0)
            }
        }
    }

    @Test(arguments: [false, true])
    func `a released loader finishes its running requests, and then releases all objects`(
        isSuspended: Bool
    ) async throws {
        try await withHeldImages { server, gate in
            let gone = AsyncGate()
            var loader: ImageLoader? = .plain { configuration in
                let sentinel = Sentinel(gone)
                configuration.cacheKey = { url in withExtendedLifetime(sentinel) { url } }
            }
            loader?.isSuspended = isSuspended
            let handle = loader?.load(server.url + "/a")
            if !isSuspended { await gate.reached() }
            loader = nil
            gate.open()
            #expect(await handle?.ending == (isSuspended ? "cancelled" : "4x2 network"))
            // The objects are also released while the handle still exists.
            await gone.pass()
            await server.openConnections(are: 0)
        }
    }
}
