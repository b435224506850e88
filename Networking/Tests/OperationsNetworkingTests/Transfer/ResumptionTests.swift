import Foundation
import HTTPTypes
import HTTPTestServer
import Operations
@testable import OperationsNetworking
import OperationsTesting
import TestSupport
import Testing

/// Resumption at the right byte, without mixed bodies and without hanging (rule R4).
@Suite(.timeLimit(.minutes(5))) struct ResumptionTests {
    private let session = HTTPSession.plain()
    private let queue = OperationQueue()
    private let bytes = LoopbackBody.pattern(length: 100_000)

    private func stalling(_ resource: LoopbackResource, _ gate: LoopbackGate, at count: Int64 = 60_000)
        -> HTTPTestServer.Handler
    {
        { request in
            let response = resource.response(to: request)
            return request.number == 1 ? response.with(.stalls(.afterBody(count), until: gate)) : response
        }
    }

    private func pauseAndResume(_ operation: HTTPOperation, at count: Int64) async {
        for await progress in operation.transferProgressUpdates where progress.received == count { break }
        operation.pause()
        queue.maxConcurrentOperationCount = 1
        await queue.addTask {}.waitUntilFinished()
        operation.resume()
    }

    /// Returns the body of a request, into memory or a file, that is paused after 60,000 bytes.
    private func valueWithPause(_ url: String, isDownload: Bool) async throws -> Data {
        let folder = try Folder()
        let download = HTTPDownloadOperation(get(url), to: folder.file("x"), session: session)
        let memory = HTTPDataOperation(get(url), session: session)
        let operation: HTTPOperation = isDownload ? download : memory
        queue.addOperation(operation)
        await pauseAndResume(operation, at: 60_000)
        return isDownload ? try Data(contentsOf: URL(filePath: try await download.value)) : try await memory.value
    }

    @Test func `an operation continues after concurrent pauses and resumes`() async throws {
        for _ in 0..<3000 {
            let operation = HTTPDataOperation(get("nonsense"), session: session)
            async let pausing: Void = Task { operation.pause() }.value
            async let resuming: Void = Task {
                while operation.state == .ready, !operation.isHeldBack {}; operation.resume()
            }.value
            _ = await (pausing, resuming)
            operation.resume()
            #expect(operation.state == .ready && !operation.isHeldBack)
            operation.cancel()
        }
    }

    @Test func `a request with its own range gets that part, also after a pause`() async throws {
        let gate = LoopbackGate()
        let resource = LoopbackResource(bytes, eTag: "\"one\"")
        try await withServer(stalling(resource, gate, at: 600)) { server in
            var request = get(server.url + "/")
            request.fields[.range] = "bytes=1000-1999"
            let operation = HTTPDataOperation(request, session: session)
            queue.addOperation(operation)
            await pauseAndResume(operation, at: 600)
            let value = try await operation.value
            #expect(value == Data(bytes.bytes[1000..<2000]))
        }
    }

    @Test func `an unrequested part is not accepted as the whole`() async throws {
        let folder = try Folder()
        let response = LoopbackResponse(
            .partialContent, fields: [.contentRange: "bytes 0-99/1000", .eTag: "\"a\""], body: .pattern(length: 100))
        try await withServer({ _ in response }) { server in
            let download = HTTPDownloadOperation(get(server.url + "/"), to: folder.file("x"), session: session)
            let memory = HTTPDataOperation(get(server.url + "/"), session: session)
            await queue.addOperations([download, memory], waitUntilFinished: true)
            #expect(await reason { try await download.value }?.text == "unacceptableStatus")
            #expect(await reason { try await memory.value }?.text == "unacceptableStatus")
            #expect(folder.names == [])
        }
    }

    @Test(arguments: [true, false]) func `a transfer behind a redirect continues where it stopped`(isDownload: Bool)
        async throws
    {
        let gate = LoopbackGate()
        let resource = LoopbackResource(bytes, eTag: "\"one\"")
        try await withServer({ request in
            if request.path == "/a" { return .redirect(to: "/b") }
            let response = resource.response(to: request)
            return request.fields[.range] == nil ? response.with(.stalls(.afterBody(60_000), until: gate)) : response
        }) { server in
            // A request for the whole body would stall again.
            let value = try await valueWithPause(server.url + "/a", isDownload: isDownload)
            #expect(value == Data(bytes.bytes))
            #expect(server.requests.last?.fields[.range] == "bytes=60000-")
        }
    }

    @Test(arguments: [true, false]) func `a redirect that changes its target after a pause mixes no bodies`(
        isDownload: Bool
    ) async throws {
        let gate = LoopbackGate()
        // An entity tag is valid for one address only.
        let resource = LoopbackResource(bytes, eTag: "\"1\"")
        let other = LoopbackResource(.pattern([9, 8, 7], length: 100_000), eTag: "\"1\"")
        try await withServer({ request in
            switch request.path {
            case "/a": .redirect(to: request.number == 1 ? "/b" : "/c")
            case "/b": resource.response(to: request).with(.stalls(.afterBody(60_000), until: gate))
            default: other.response(to: request)
            }
        }) { server in
            let value = try await valueWithPause(server.url + "/a", isDownload: isDownload)
            #expect(value == Data(other.body.bytes))
        }
    }

    @Test func `a transfer that is paused between the last byte and the end is complete`() async throws {
        let gate = LoopbackGate()
        var resource = LoopbackResource(bytes, eTag: "\"one\"")
        resource.framing = .chunked
        try await withServer(stalling(resource, gate, at: 100_000)) { server in
            let operation = HTTPDataOperation(get(server.url + "/"), session: session)
            queue.addOperation(operation)
            await pauseAndResume(operation, at: 100_000)
            let value = try await operation.value
            #expect(value == Data(bytes.bytes) && operation.response?.status == .ok)
        }
    }

    @Test func `a pause during a retry delay does not shorten the server's delay`() async throws {
        let clock = VirtualClock()
        let policy = RetryPolicy(retries: 1, backoff: .constant(.zero))
        let session = HTTPSession.plain {
            $0.setClock(clock)
            $0.retryPolicy = policy
        }
        let routes = LoopbackRoutes([.unavailable(times: 1, retryAfter: "60", then: .always("/", .text("x")))])
        let server = try await HTTPTestServer.start(routes: routes)
        var request = get(server.url + "/")
        request.limits.idleTimeout = nil
        let operation = HTTPDataOperation(request, session: session)
        queue.addOperation(operation)
        while clock.sleeperCount == 0 { await Task.yield() }
        operation.pause()
        #expect(operation.state == .paused)
        clock.advance(by: .seconds(20))
        operation.resume()
        queue.maxConcurrentOperationCount = 1
        await queue.addTask {}.waitUntilFinished()
        while clock.nextDeadline?.offset != .seconds(60), !operation.isFinished { await Task.yield() }
        #expect(server.requests.count == 1)
        clock.advance(by: .seconds(40))
        let value = try await operation.value
        #expect(value == Data("x".utf8) && server.requests.count == 2)
        await server.stop()
    }

    @Test(arguments: ["86400", "121", "Fri, 31 Dec 2199 23:59:59 GMT", "99999999999999999999"])
    func `a request fails at once when the server asks for a longer wait than the session allows`(
        wait: String
    ) async throws {
        let policy = RetryPolicy(retries: 1, backoff: .constant(.zero))
        let session = HTTPSession.plain { $0.retryPolicy = policy }
        let routes = LoopbackRoutes([.unavailable(times: 1, retryAfter: wait, then: .always("/", .text("x")))])
        let server = try await HTTPTestServer.start(routes: routes)
        let operation = HTTPDataOperation(get(server.url + "/"), session: session)
        queue.addOperation(operation)
        #expect(await reason { try await operation.value }?.text == "unacceptableStatus")
        #expect(server.requests.count == 1)
        await server.stop()
    }

    /// The delay ends after the operation has decided to wait, and before the wait begins.
    @Test func `a retry delay ends, even if the clock advances before the delay begins`() async throws {
        let clock = LookedAtClock()
        let policy = RetryPolicy(retries: 1, backoff: .constant(.seconds(10)), jitter: .none) { _ in
            clock.goOn(by: [.seconds(6), .seconds(6)])
            return true
        }
        let session = HTTPSession.plain {
            $0.setClock(clock)
            $0.retryPolicy = policy
        }
        let routes = LoopbackRoutes([.unavailable(times: 1, then: .always("/", .text("x")))])
        let server = try await HTTPTestServer.start(routes: routes)
        var request = get(server.url + "/")
        request.limits.idleTimeout = nil
        let operation = HTTPDataOperation(request, session: session)
        queue.addOperation(operation)
        let value = try await operation.value
        #expect(value == Data("x".utf8) && server.requests.count == 2)
        await server.stop()
    }

    @Test func `another operation continues a download, or starts over if the resource has changed`() async throws {
        for hasChanged in [false, true] {
            let gate = LoopbackGate()
            let folder = try Folder()
            let old = LoopbackResource(bytes, eTag: "\"one\"")
            let new = LoopbackResource(.pattern([1, 2, 3], length: 90_000), eTag: "\"two\"")
            try await withServer({ request in
                if request.number == 1 {
                    return old.response(to: request).with(.stalls(.afterBody(60_000), until: gate))
                }
                return (hasChanged ? new : old).response(to: request)
            }) { server in
                let first = HTTPDownloadOperation(get(server.url + "/"), to: folder.file("x"), session: session)
                queue.addOperation(first)
                for await progress in first.transferProgressUpdates where progress.received == 60_000 { break }
                let second = HTTPDownloadOperation(get(server.url + "/"), to: folder.file("x"), session: session)
                queue.addOperation(second)
                // Two concurrent downloads exclude each other.
                #expect(await reason { try await second.value }?.text == "cannotWrite")
                #expect(folder.names == [".x.part", ".x.part.json"])
                first.cancel()
                _ = await reason { try await first.value }
                let third = first.copy()
                queue.addOperation(third)
                let path = try await third.value
                #expect(try Data(contentsOf: URL(filePath: path)) == Data((hasChanged ? new : old).body.bytes))
                #expect(folder.names == ["x"])
                #expect(server.requests.last?.fields[.range] == "bytes=60000-")
            }
        }
    }

    @Test func `another operation continues a redirected download at the same address only`() async throws {
        for leadsElsewhere in [false, true] {
            let gate = LoopbackGate()
            let folder = try Folder()
            let old = LoopbackResource(bytes, eTag: "\"one\"")
            let other = LoopbackResource(.pattern([1, 2, 3], length: 90_000), eTag: "\"one\"")
            try await withServer({ request in
                switch request.path {
                case "/old" where request.number == 2:
                    old.response(to: request).with(.stalls(.afterBody(60_000), until: gate))
                case "/old": old.response(to: request)
                case "/other": other.response(to: request)
                default: .redirect(to: leadsElsewhere && request.number > 2 ? "/other" : "/old")
                }
            }) { server in
                let first = HTTPDownloadOperation(get(server.url + "/"), to: folder.file("x"), session: session)
                queue.addOperation(first)
                for await progress in first.transferProgressUpdates where progress.received == 60_000 { break }
                first.cancel()
                _ = await reason { try await first.value }
                let second = HTTPDownloadOperation(get(server.url + "/"), to: folder.file("x"), session: session)
                queue.addOperation(second)
                let path = try await second.value
                let data = try Data(contentsOf: URL(filePath: path))
                #expect(data == Data((leadsElsewhere ? other : old).body.bytes))
                let ranges = server.requests.map { $0.fields[.range] }
                #expect(ranges == [nil, nil, nil, leadsElsewhere ? nil : "bytes=60000-"])
            }
        }
    }

    @Test func `a request to the cache alone does not continue an earlier download`() async throws {
        let gate = LoopbackGate()
        let folder = try Folder()
        let session = HTTPSession.plain { $0.cache = .inMemory() }
        try await withServer(stalling(LoopbackResource(bytes, eTag: "\"one\""), gate)) { server in
            let first = HTTPDownloadOperation(get(server.url + "/"), to: folder.file("x"), session: session)
            queue.addOperation(first)
            for await progress in first.transferProgressUpdates where progress.received == 60_000 { break }
            first.cancel()
            _ = await reason { try await first.value }
            var request = get(server.url + "/")
            request.cachePolicy = .onlyIfCached
            let second = HTTPDownloadOperation(request, to: folder.file("x"), session: session)
            queue.addOperation(second)
            #expect(await reason { try await second.value } != nil)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `a wrong digest removes the file, and the next download starts over`() async throws {
        let folder = try Folder()
        try Data("old".utf8).write(to: URL(filePath: folder.file("x")))
        let resource = LoopbackResource(bytes, eTag: "\"one\"")
        try await withServer({ resource.response(to: $0) }) { server in
            let digest = HTTPDigest(sha256: String(repeating: "ab", count: 32))
            let download = HTTPDownloadOperation(
                get(server.url + "/"), to: folder.file("x"), digest: digest, session: session)
            queue.addOperation(download)
            #expect(await reason { try await download.value }?.text == "digestMismatch")
            #expect(folder.names == ["x"])
            let content = try Data(contentsOf: URL(filePath: folder.file("x")))
            #expect(content == Data("old".utf8))
        }
    }
}
