import Foundation
import HTTPCaching
import HTTPTypes
import HTTPTestServer
@testable import OperationsImages
import OperationsNetworking
import OperationsTesting
import TestSupport
import Testing

/// Tests of the disk, of policies and of remembered failures (rule I1).
@Suite(.timeLimit(.minutes(5))) struct ImageCachingTests {
    // MARK: - Disk

    @Test func `an image that is not in memory comes from disk, with the original and each size stored separately`()
        async throws
    {
        let decoder = StubDecoder()
        try await HTTPTestServer.with(handler: { _ in .image(400, 200) }) { server in
            let cache = HTTPCache.inMemory()
            let url = server.url + "/a"
            let loader = ImageLoader.plain(decoder) { $0.cache = cache }
            #expect(await loader.load(url, options: .thumbnail(40)).ending == "40x20 network")
            await loader.waitUntilIdle()
            #expect(await cache.data(forKey: url) == Data("400x200\n".utf8))
            // A new loader, as after a restart of the program.
            let next = ImageLoader.plain(decoder) { $0.cache = cache }
            #expect(await next.load(url, options: .thumbnail(40)).ending == "40x20 disk")
            #expect(decoder.calls.entries.count == 1)
            #expect(await next.load(url).ending == "400x200 disk")
            #expect(await next.load(url, options: .thumbnail(20)).ending == "20x10 disk")
            #expect(decoder.calls.entries.count == 3 && server.requests.count == 1)
            #expect(
                next.imageInMemory(url, options: .thumbnail(40)) == loader.imageInMemory(url, options: .thumbnail(40)))
            await next.remove(url)
            #expect(next.memoryCount == 0)
            #expect(await next.load(url).ending == "400x200 network")
        }
    }

    @Test func `only thumbnails up to the limit are stored in addition to the original`() async throws {
        try await HTTPTestServer.with(handler: { _ in .image(400, 200) }) { server in
            let cache = HTTPCache.inMemory()
            let loader = ImageLoader.plain {
                $0.cache = cache
                $0.storedVariantLimit = 40 * 20 * 4
            }
            let url = server.url + "/a"
            for size in [nil, 40, 41] as [Int?] {
                let options = ImageLoadOptions(decoding: ImageDecodingOptions(maxPixelSize: size))
                _ = try await loader.load(url, options: options).value
            }
            await loader.waitUntilIdle()
            #expect(await cache.count == 2)
            let kept = await cache.data(forKey: url, variant: "thumbnail 40")
            #expect(kept.flatMap { StoredImage($0) }?.image.width == 40)
        }
    }

    @Test(arguments: [CacheStep.temporaryFileMade, .bodyWritten, .transactionBegun, .entryWritten])
    func `a full disk does not affect the images`(step: CacheStep) async throws {
        let path = NSTemporaryDirectory() + "operations-images-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        let cache = try HTTPCache(path, memoryLimit: 0, diskLimit: 1 << 20) { reached in
            if reached == step { throw HTTPCacheError.noSpace(path: path) }
        }
        try await HTTPTestServer.with(handler: { _ in .image(4, 2) }) { server in
            let loader = ImageLoader.plain { $0.cache = cache }
            for size in [nil, 2] as [Int?] {
                let options = ImageLoadOptions(decoding: ImageDecodingOptions(maxPixelSize: size))
                #expect(await loader.load(server.url + "/a", options: options).ending.hasSuffix("network"))
                await loader.waitUntilIdle()
            }
            #expect(await loader.load(server.url + "/a").ending == "4x2 memory")
            #expect(server.requests.count == 2)
        }
    }

    @Test func `a file on disk that is not an image is loaded again, once for all sizes`() async throws {
        let areJoined = AsyncGate()
        try await HTTPTestServer.with(handler: { _ in
            await areJoined.pass()
            return .image(400, 200)
        }) { server in
            let cache = HTTPCache.inMemory()
            let url = server.url + "/a"
            await cache.store(Data("no image".utf8), forKey: url)
            await cache.store(Data("no pixels".utf8), forKey: url, variant: "thumbnail 40")
            let loader = ImageLoader.plain { $0.cache = cache }
            let handles = [nil, 40, 50].map { size in
                loader.load(url, options: ImageLoadOptions(decoding: ImageDecodingOptions(maxPixelSize: size)))
            }
            areJoined.open()
            #expect(await handles[0].ending == "400x200 network")
            #expect(await handles[1].ending == "40x20 network")
            #expect(await handles[2].ending == "50x25 network")
            #expect(server.requests.count == 1)
            await loader.waitUntilIdle()
            #expect(await cache.data(forKey: url) == Data("400x200\n".utf8))
            await cache.store(Data("no image".utf8), forKey: url)
            loader.clearMemory()
            let policy = ImageLoadOptions(cache: .onlyCached)
            #expect(await loader.load(url, options: policy).ending == "image")
        }
    }

    // MARK: - Policies

    @Test func `a policy determines the sources of an image and the places where it is stored`() async throws {
        try await HTTPTestServer.with(handler: { _ in .image(4, 2) }) { server in
            let cache = HTTPCache.inMemory()
            let loader = ImageLoader.plain { $0.cache = cache }
            func ending(_ policy: ImageCachePolicy) async -> String {
                let ending = await loader.load(server.url + "/a", options: ImageLoadOptions(cache: policy)).ending
                await loader.waitUntilIdle()
                return ending
            }
            #expect(await ending(.onlyCached) == "notCached")
            #expect(await ending(.ignore) == "4x2 network")
            #expect(await cache.count == 0 && loader.memoryCount == 0)
            #expect(await ending(.memoryOnly) == "4x2 network")
            #expect(await cache.count == 0 && loader.memoryCount == 1)
            loader.clearMemory()
            #expect(await ending(.default) == "4x2 network")
            #expect(await ending(.onlyCached) == "4x2 memory")
            loader.clearMemory()
            #expect(await ending(.onlyCached) == "4x2 disk")
            #expect(await ending(.ignore) == "4x2 network")
        }
    }

    @Test(arguments: [false, true])
    func `a refresh revalidates the stored image`(sessionHasCache: Bool) async throws {
        let version = Guarded(1)
        try await HTTPTestServer.with(handler: { request in
            let version = version.withLock { $0 }
            let file = LoopbackResponse.image(100 * version, 100).body
            return LoopbackResource(
                file, contentType: "image/png", eTag: "\"\(version)\"", cacheControl: "max-age=1000"
            ).response(to: request)
        }) { server in
            let cache = HTTPCache.inMemory()
            let loader = ImageLoader.plain {
                $0.cache = cache
                $0.session = .still(cache: sessionHasCache ? cache : nil)
            }
            let url = server.url + "/a"
            let refresh = ImageLoadOptions(cache: .refresh)
            #expect(await loader.load(url).ending == "100x100 network")
            _ = try await loader.load(url, options: .thumbnail(10)).value
            await loader.waitUntilIdle()
            #expect(await loader.load(url, options: refresh).ending == "100x100 disk")
            #expect(server.requests.last?.fields[.ifNoneMatch] == "\"1\"")
            #expect(loader.imageInMemory(url, options: .thumbnail(10)) != nil)
            version.withLock { $0 = 2 }
            #expect(await loader.load(url, options: refresh).ending == "200x100 network")
            await loader.waitUntilIdle()
            #expect(server.requests.count == 3)
            // The other sizes on disk belonged to the old image.
            #expect(await loader.load(url, options: .thumbnail(10)).ending == "10x5 disk")
            #expect(await loader.load(url).ending == "200x100 memory")
        }
    }

    @Test func `the request's own conditions can give the result not modified`() async throws {
        try await HTTPTestServer.with(handler: { request in
            LoopbackResource(.text("4x2\n"), contentType: "image/png", eTag: "\"1\"").response(to: request)
        }) { server in
            let loader = ImageLoader.plain()
            var options = ImageLoadOptions()
            options.request.fields[.ifNoneMatch] = "\"1\""
            #expect(await loader.load(server.url + "/a", options: options).ending == "notModified")
            #expect(await loader.load(server.url + "/a").ending == "4x2 network")
        }
    }

    // MARK: - Failures

    @Test func `a failure is remembered until its time is over`() async throws {
        let clock = VirtualClock()
        try await HTTPTestServer.with(handler: { _ in .notFound }) { server in
            let loader = ImageLoader.plain {
                $0.failureCacheDuration = .seconds(30)
                $0.setClock(clock)
            }
            let url = server.url + "/a"
            #expect(await loader.load(url).ending == "unacceptableStatus")
            clock.advance(by: .seconds(29))
            let again = loader.load(url, options: .thumbnail(10))
            guard case .failure(let error) = again.result, case .failedBefore(let reason) = error.reason else {
                Issue.record("the failure was not remembered")
                return
            }
            guard case .unacceptableStatus(404) = reason else {
                Issue.record("\(reason)")
                return
            }
            #expect(error.response?.status == .notFound && error.url == url && server.requests.count == 1)
            clock.advance(by: .seconds(1))
            #expect(await loader.load(url).ending == "unacceptableStatus" && server.requests.count == 2)
            // The time starts again with each failure.
            let retry = ImageLoadOptions(retryFailed: true)
            #expect(await loader.load(url, options: retry).ending == "unacceptableStatus")
            #expect(server.requests.count == 3)
            loader.clearFailureCache()
            #expect(await loader.load(url).ending == "unacceptableStatus" && server.requests.count == 4)
        }
    }

    @Test func `temporary failures are not remembered`() async throws {
        let clock = VirtualClock()
        let gate = LoopbackGate()
        let seen = Guarded<Set<String>>([])
        try await HTTPTestServer.with(handler: { request in
            guard seen.withLock({ $0.insert(request.path).inserted }) else { return .image(4, 2) }
            return switch request.path {
            case "/lost": .image(4, 2).with(.closesUnanswered)
            case "/cut": .image(4, 2).with(.truncates(after: 2))
            default: .image(4, 2).with(.stalls(.beforeHead, until: gate))
            }
        }) { server in
            let loader = ImageLoader.plain { $0.session = .still(clock) }
            for path in ["/lost", "/cut", "/slow"] {
                let first = loader.load(server.url + path)
                if path == "/slow" {
                    await gate.reached()
                    // The session may record the time of its last progress after an advance of the clock. The loop
                    // therefore advances the clock until the limit is exceeded.
                    while first.result == nil {
                        clock.advance(by: .seconds(11))
                        await Task.yield()
                    }
                }
                #expect(await first.ending == "transfer", "\(path)")
                #expect(await loader.load(server.url + path).ending == "4x2 network", "\(path)")
            }
        }
    }

    @Test(arguments: [429, 503, 408, 425, 500, 502, 504])
    func `a temporary status is not remembered`(status: Int) async throws {
        try await HTTPTestServer.with(handler: { request in
            request.number == 1 ? LoopbackResponse(.init(code: status)) : .image(4, 2)
        }) { server in
            let loader = ImageLoader.plain()
            #expect(await loader.load(server.url + "/a").ending == "unacceptableStatus")
            #expect(await loader.load(server.url + "/a").ending == "4x2 network")
        }
    }

    @Test(arguments: [false, true])
    func `the disk contains no name and password of an address, and each user has separate images`(
        hasOwnKey: Bool
    ) async throws {
        let folder = NSTemporaryDirectory() + "images-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await HTTPTestServer.with(handler: { request in
            request.fields[.authorization] == "Basic YWxpY2U6aHVudGVyMg==" ? .image(4, 2) : .image(8, 2)
        }) { server in
            let cache = try HTTPCache(directory: folder)
            for source in ["network", "disk"] {
                for (user, size) in [("alice", "4x2"), ("bob", "8x2")] {
                    let loader = ImageLoader.plain {
                        $0.cache = cache
                        if hasOwnKey {
                            $0.cacheKey = { url in url.split(separator: "?").first.map(String.init) ?? url }
                        }
                    }
                    let url = server.url.replacing("http://", with: "http://\(user):hunter2@") + "/a"
                    let ending = await loader.load(url).ending
                    #expect(ending == "\(size) \(source)", "\(user)")
                    await loader.waitUntilIdle()
                }
            }
            for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
                let content = FileManager.default.contents(atPath: folder + "/" + name) ?? Data()
                #expect(content.range(of: Data("hunter2".utf8)) == nil, "\(name)")
            }
        }
    }

    @Test(arguments: [HTTPField.Name.authorization, .cookie])
    func `an image loaded with one credential is not used for another credential`(
        name: HTTPField.Name
    ) async throws {
        try await HTTPTestServer.with(handler: { $0.fields[name] == "alice" ? .image(4, 2) : .image(8, 2) }) { server in
            let loader = ImageLoader.plain { $0.cache = .inMemory() }
            for _ in 0..<2 {
                for (user, size) in [("alice", "4x2"), ("bob", "8x2")] {
                    var options = ImageLoadOptions()
                    options.request.fields[name] = user
                    let ending = await loader.load(server.url + "/a", options: options).ending
                    #expect(ending.hasPrefix(size), "\(ending)")
                    await loader.waitUntilIdle()
                }
            }
        }
    }

    @Test func `an image that is too large for one request can be small enough for another`() async throws {
        try await HTTPTestServer.with(handler: { _ in .image(100, 100) }) { server in
            let loader = ImageLoader.plain()
            let small = ImageLoadOptions(decoding: ImageDecodingOptions(memoryLimit: 1000))
            #expect(await loader.load(server.url + "/a", options: small).ending == "image")
            #expect(await loader.load(server.url + "/a", options: small).ending == "failedBefore")
            #expect(await loader.load(server.url + "/a").ending == "100x100 network")
        }
    }
}
