import HTTPTypes
import HTTPTestServer
import Operations
@testable import OperationsImages
import OperationsNetworking
import TestSupport
import Testing

/// Tests of prefetching (rule I4).
@Suite(.timeLimit(.minutes(5))) struct ImagePrefetcherTests {
    @Test func `a list is loaded, and failed images are skipped`() async throws {
        try await HTTPTestServer.with(handler: { $0.path.hasSuffix("3") ? .notFound : .image(4, 2) }) { server in
            let loader = ImageLoader.plain()
            let urls = (0..<20).map { "\(server.url)/\($0)" } + [server.url + "/0"]
            let prefetcher = ImagePrefetcher(urls, with: loader)
            var finished = -1
            for await progress in prefetcher.progressUpdates {
                #expect(progress.finished > finished && progress.total == 21)
                finished = progress.finished
            }
            #expect(prefetcher.progress.finished == 21 && prefetcher.progress.failed == 2)
            #expect(loader.imageInMemory(server.url + "/7") != nil && server.requests.count == 20)
            let progress = await ImagePrefetcher(urls, with: loader).waitUntilFinished()
            #expect(progress.isComplete && server.requests.count == 20)
        }
    }

    @Test func `an empty list is complete`() async {
        let prefetcher = ImagePrefetcher([], with: .plain())
        let progress = await prefetcher.waitUntilFinished()
        #expect(progress.isComplete && progress.total == 0 && progress.failed == 0)
        prefetcher.cancel()
    }

    @Test func `a prefetcher does not keep the images that have arrived`() async throws {
        try await withHeldImages { server, gate in
            let loader = ImageLoader.plain { $0.memoryLimit = 0 }
            let prefetcher = ImagePrefetcher((0..<20).map { "\(server.url)/\($0)" }, with: loader)
            let promises = loader.pipeline.state.withLock { $0.promises.values.map { Weak($0) } }
            #expect(promises.count == 20)
            gate.open()
            await prefetcher.waitUntilFinished()
            for promise in promises { await promise.goes() }
            #expect(prefetcher.progress.finished == 20)
        }
    }

    @Test func `an image requested meanwhile gets a higher priority than the rest of the list`() async throws {
        try await withHeldImages { server, gate in
            let loader = ImageLoader.plain { $0.maxConcurrentTransfers = 1 }
            let prefetcher = ImagePrefetcher((0..<5).map { "\(server.url)/\($0)" }, with: loader)
            await gate.reached()
            let wanted = loader.load(server.url + "/3", options: .thumbnail(1))
            #expect(wanted.transfer?.queuePriority == .normal)
            let other = loader.load(server.url + "/4")
            #expect(other.transfer?.queuePriority == .normal)
            other.cancel()
            gate.open()
            #expect(await wanted.ending == "1x1 network")
            await prefetcher.waitUntilFinished()
            #expect(server.requests.map(\.path) == ["/0", "/3", "/1", "/2", "/4"])
        }
    }

    @Test func `two prefetchers are independent, and do not affect other requests`() async throws {
        try await withHeldImages { server, gate in
            let loader = ImageLoader.plain { $0.maxConcurrentTransfers = 1 }
            func urls(_ range: Range<Int>) -> [String] { range.map { "\(server.url)/\($0)" } }
            let one = ImagePrefetcher(urls(0..<4), with: loader)
            await gate.reached()
            let other = ImagePrefetcher(urls(2..<6), with: loader)
            let wanted = loader.load(server.url + "/1")
            one.cancel()
            #expect(one.progress.isComplete && one.progress.failed == 4 && other.progress.finished == 0)
            other.setPriority(.high)
            gate.open()
            #expect(await wanted.ending == "4x2 network")
            await other.waitUntilFinished()
            #expect(other.progress.failed == 0)
            #expect(Set(server.requests.map(\.path)) == ["/0", "/1", "/2", "/3", "/4", "/5"])
        }
    }
}
