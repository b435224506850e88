#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import struct Foundation.Data
#endif
import HTTPCaching
import HTTPTestServer
import HTTPTypes
import Operations
@testable import OperationsImages
@testable import OperationsNetworking
import TestSupport
import Testing

/// Tests of pauses of single requests (rules I2, N5).
@Suite(.timeLimit(.minutes(5))) struct ImagePauseTests {
    private let url = "http://127.0.0.1:1/a"

    private func suspendedLoader() -> ImageLoader {
        let loader = ImageLoader.plain()
        loader.isSuspended = true
        return loader
    }

    @Test func `a transfer pauses when its requests for all sizes are paused, and resumes with the first of them`()
        throws
    {
        let loader = suspendedLoader()
        let (small, large) = (loader.load(url, options: .thumbnail(1)), loader.load(url))
        let same = loader.load(url)
        let transfer = try #require(small.transfer)
        small.pause()
        large.pause()
        #expect(small.isPaused && !same.isPaused && transfer.state == .ready)
        same.pause()
        #expect(transfer.state == .paused)
        small.resume()
        #expect(transfer.state == .ready)
        small.pause()
        // A new request is not paused. Its cancellation leaves only paused requests.
        let joining = loader.load(url, options: .thumbnail(3))
        #expect(joining.transfer === transfer && transfer.state == .ready)
        joining.cancel()
        #expect(transfer.state == .paused)
        same.cancel()
        #expect(transfer.state == .paused && !same.isPaused)
        large.priority = .veryHigh
        #expect(transfer.state == .paused && transfer.queuePriority == .veryHigh)
        large.resume()
        #expect(transfer.state == .ready)
        loader.cancelAll()
        #expect(transfer.isCancelled && !large.isPaused)
    }

    @Test func `a paused transfer continues at its position when a request resumes`() async throws {
        let gate = LoopbackGate()
        let file = LoopbackResponse.image(4, 2, padding: 99_996).body
        let resource = LoopbackResource(file, contentType: "image/png", eTag: "\"one\"")
        try await HTTPTestServer.with(handler: { request in
            let response = resource.response(to: request)
            return request.number == 1 ? response.with(.stalls(.afterBody(60_000), until: gate)) : response
        }) { server in
            let loader = ImageLoader.plain { $0.maxConcurrentTransfers = 1 }
            let handle = loader.load(server.url + "/a")
            for await progress in handle.progressUpdates where progress.completedBytes == 60_000 { break }
            handle.pause()
            // The paused transfer frees its slot.
            #expect(await loader.load(server.url + "/b").ending == "4x2 network")
            #expect(handle.result == nil && handle.isPaused)
            handle.resume()
            #expect(await handle.ending == "4x2 network")
            #expect(server.requests.last?.fields[.range] == "bytes=60000-")
            #expect(!handle.isPaused && handle.transfer == nil && (try? handle.result?.get())?.source == .network)
        }
    }

    @Test func `a request paused during its lookup on disk begins its transfer paused`() async throws {
        try await HTTPTestServer.with(handler: { _ in .image(4, 2) }) { server in
            let loader = ImageLoader.plain { ($0.maxConcurrentTransfers, $0.cache) = (1, .inMemory()) }
            loader.pipeline.lookups.isSuspended = true
            let (one, other) = (loader.load(server.url + "/a"), loader.load(server.url + "/a", options: .thumbnail(1)))
            one.pause()
            other.pause()
            #expect(one.isPaused && one.transfer == nil)
            loader.pipeline.lookups.isSuspended = false
            await loader.pipeline.lookups.waitUntilAllOperationsAreFinished()
            await loader.queue.addTask {}.waitUntilFinished()
            #expect(one.transfer?.state == .paused && server.requests.isEmpty)
            other.resume()
            #expect(await one.ending == "4x2 network")
            #expect(await other.ending == "1x1 network" && server.requests.count == 1)
        }
    }

    @Test func `a request paused during its request modifier begins its transfer paused`() async throws {
        let (begun, mayContinue) = (AsyncGate(), AsyncGate())
        try await HTTPTestServer.with(handler: { _ in .image(4, 2) }) { server in
            let loader = ImageLoader.plain {
                $0.maxConcurrentTransfers = 1
                $0.requestModifier = {
                    begun.open()
                    await mayContinue.pass()
                    return $0
                }
            }
            let handle = loader.load(server.url + "/a")
            await begun.pass()
            handle.pause()
            mayContinue.open()
            while handle.transfer == nil { await Task.yield() }
            await loader.queue.addTask {}.waitUntilFinished()
            #expect(handle.transfer?.state == .paused && server.requests.isEmpty)
            handle.resume()
            #expect(await handle.ending == "4x2 network")
        }
    }

    @Test func `a pause stops neither a lookup on disk nor a decoding`() async throws {
        let (begun, mayContinue) = (AsyncGate(), Gate())
        try await HTTPTestServer.with(handler: { _ in .image(4, 2) }) { server in
            let loader = ImageLoader.plain(StubDecoder(begun: begun, mayContinue: mayContinue)) {
                $0.cache = .inMemory()
            }
            let decoding = loader.load(server.url + "/a")
            await begun.pass()
            decoding.pause()
            #expect(decoding.isPaused && decoding.transfer == nil)
            mayContinue.open()
            #expect(await decoding.ending == "4x2 network")
            await loader.waitUntilIdle()
            loader.clearMemory()
            loader.pipeline.lookups.isSuspended = true
            let sought = loader.load(server.url + "/a")
            sought.pause()
            loader.pipeline.lookups.isSuspended = false
            #expect(await sought.ending == "4x2 disk")
        }
    }

    @Test func `a transfer that replaces a damaged file begins paused, after its only unpaused request has its image`()
        async throws
    {
        let cache = HTTPCache.inMemory()
        try await HTTPTestServer.with(handler: { _ in .image(4, 2) }) { server in
            await cache.store(Data("no image".utf8), forKey: server.url + "/a")
            let loader = ImageLoader.plain { ($0.maxConcurrentTransfers, $0.cache) = (1, cache) }
            loader.pipeline.decodings.isSuspended = true
            let handle = loader.load(server.url + "/a")
            await loader.pipeline.lookups.waitUntilAllOperationsAreFinished()
            handle.pause()
            loader.pipeline.decodings.isSuspended = false
            await loader.pipeline.decodings.waitUntilAllOperationsAreFinished()
            await loader.queue.addTask {}.waitUntilFinished()
            #expect(handle.transfer?.state == .paused && server.requests.isEmpty)
            handle.resume()
            #expect(await handle.ending == "4x2 network")
        }
    }

    /// A decoder that fails for the first thumbnail, and waits at a gate for the first full image.
    private final class DamageDecoder: ImageDecoder {
        let hasFailed = Guarded(false)
        let mayContinue = Gate()
        private let stub = StubDecoder()

        func decode(_ data: [UInt8], options: ImageDecodingOptions, isCancelled: () -> Bool) throws -> DecodedImage {
            if options.maxPixelSize == nil { mayContinue.pass() }
            let fails =
                options.maxPixelSize != nil
                && hasFailed.withLock { hasFailed in
                    defer { hasFailed = true }
                    return !hasFailed
                }
            if fails { throw ImageError.unknownFormat }
            return try stub.decode(data, options: options, isCancelled: isCancelled)
        }
    }

    @Test func `the end of the only unpaused request pauses the transfer of the others`() async throws {
        let (cache, decoder) = (HTTPCache.inMemory(), DamageDecoder())
        try await HTTPTestServer.with(handler: { _ in .image(4, 2) }) { server in
            await cache.store(Data("4x2\n".utf8), forKey: server.url + "/a")
            let loader = ImageLoader.plain(decoder) { $0.cache = cache }
            loader.isSuspended = true
            let (full, small) = (loader.load(server.url + "/a"), loader.load(server.url + "/a", options: .thumbnail(1)))
            while small.transfer == nil { await Task.yield() }
            small.pause()
            // The other request may need the transfer too.
            #expect(small.transfer?.isPaused == false)
            decoder.mayContinue.open()
            #expect(await full.ending == "4x2 disk")
            #expect(small.transfer?.isPaused == true)
            small.resume()
            loader.isSuspended = false
            #expect(await small.ending == "1x1 network")
        }
    }

    @Test func `a deallocated handle neither cancels nor pauses its request`() async throws {
        try await HTTPTestServer.with(handler: { _ in .image(4, 2) }) { server in
            let loader = ImageLoader.plain()
            loader.isSuspended = true
            let kept = loader.load(server.url + "/a")
            kept.pause()
            var dropped: ImageRequestHandle? = loader.load(server.url + "/a", options: .thumbnail(1))
            dropped?.pause()
            let progress = dropped?.progressUpdates
            #expect(kept.transfer?.isPaused == true)
            dropped = nil
            #expect(kept.transfer?.isPaused == false && kept.isPaused)
            loader.isSuspended = false
            #expect(await kept.ending == "4x2 network")
            for await step in try #require(progress) { #expect(step.totalBytes == step.completedBytes) }
            await loader.waitUntilIdle()
            #expect(loader.imageInMemory(server.url + "/a", options: .thumbnail(1)) != nil)
        }
    }

    @Test(arguments: 0..<UInt64(Stress.rounds(5, least: 2)))
    func `a thousand requests for three sizes agree with a naive model`(seed: UInt64)
        throws
    {
        var random = SeededRandom(seed: seed)
        let loader = suspendedLoader()
        let handles = (0..<1000).map { loader.load(url, options: .thumbnail($0 % 3 + 1), priority: .veryLow) }
        let transfer = try #require(handles[0].transfer)
        var model = Dictionary(uniqueKeysWithValues: handles.indices.map { ($0, TransferDemand(.veryLow)) })
        let priorities: [Operation.QueuePriority] = [.veryLow, .low, .normal, .high, .veryHigh]
        for _ in 0..<4000 {
            let index = random.below(1000)
            let handle = handles[index]
            switch random.below(5) {
            case 0 where model.count > 3:
                handle.cancel()
                model[index] = nil
            case 1:
                handle.resume()
                model[index]?.isPaused = false
            case 2:
                let priority = priorities[random.below(5)]
                handle.priority = priority
                model[index]?.priority = priority.rawValue
            default:
                handle.pause()
                model[index]?.isPaused = true
            }
            let demand = TransferDemand.combined(of: model.values)
            guard transfer.isPaused == demand.isPaused, transfer.queuePriority == demand.queuePriority,
                handle.isPaused == model[index]?.isPaused ?? false
            else {
                Issue.record("seed \(seed): \(transfer.isPaused), \(transfer.queuePriority), expected \(demand)")
                break
            }
        }
        loader.cancelAll()
    }

    @Test(arguments: 0..<UInt64(5))
    func `concurrent steps of a thousand requests leave the transfer in the right state`(
        seed: UInt64
    ) async throws {
        try await HTTPTestServer.with(handler: { _ in .image(4, 2) }) { server in
            let loader = ImageLoader.plain()
            loader.isSuspended = true
            let handles = (0..<1000).map { loader.load(server.url + "/a", options: .thumbnail($0 % 3 + 1)) }
            let transfer = try #require(handles[0].transfer)
            let remaining = await withTaskGroup(of: [Int: TransferDemand].self) { group in
                for worker in 0..<4 {
                    group.addTask {
                        var random = SeededRandom(seed: seed &* 4 &+ UInt64(worker))
                        var demands: [Int: TransferDemand] = [:]
                        for index in handles.indices where index % 4 == worker {
                            let handle = handles[index]
                            var isCancelled = false
                            for _ in 0..<random.below(6) {
                                switch random.below(5) {
                                case 0: handle.resume()
                                case 1: handle.priority = random.below(2) == 0 ? .high : .low
                                case 2 where index > 3:
                                    handle.cancel()
                                    isCancelled = true
                                default: handle.pause()
                                }
                            }
                            if seed % 2 == 0 { handle.pause() }
                            if !isCancelled { demands[index] = handle.promise.demand }
                        }
                        return demands
                    }
                }
                var all: [Int: TransferDemand] = [:]
                for await demands in group { all.merge(demands) { $1 } }
                return all
            }
            let demand = TransferDemand.combined(of: remaining.values)
            #expect(transfer.isPaused == demand.isPaused && transfer.queuePriority == demand.queuePriority)
            loader.isSuspended = false
            if let some = remaining.keys.min() { handles[some].resume() }
            for index in handles.indices {
                let ending = await handles[index].ending
                #expect((ending == "cancelled") == (remaining[index] == nil), "\(ending)")
            }
            #expect(server.requests.count == 1)
        }
    }
}

extension TransferDemand {
    /// Returns the combination of demands by its definition.
    fileprivate static func combined(of demands: some Collection<TransferDemand>) -> Self {
        TransferDemand(
            priority: demands.map(\.priority).max() ?? 0, isPaused: !demands.contains { !$0.isPaused })
    }
}
