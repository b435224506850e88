import Foundation
import HTTPCore
import HTTPTypes
import HTTPTestServer
import Operations
import OperationsNetworking
import TestSupport
import Testing

/// Batches of requests (rule N3).
@Suite(.timeLimit(.minutes(5))) struct BatchTests {
    private let session = HTTPSession.plain()

    private func text<Value>(_ result: Result<Value, any Error>) -> String {
        switch result {
        case .success(let value): "\(value)"
        case .failure(let error as HTTPError): HTTPCoreReason(error).text
        case .failure(let error): "\(error)"
        }
    }

    /// Serves bodies of known lengths at `/LENGTH`, and of unannounced lengths at `/plain/LENGTH`. Responds to `/none` with an
    /// error status.
    private func lengths(_ gate: LoopbackGate? = nil) -> HTTPTestServer.Handler {
        { request in
            if request.method == .get { try? await gate?.pass() }
            guard let length = Int64(request.path.split(separator: "/").last ?? "") else { return .notFound }
            let framing: LoopbackResponse.Framing = request.path.hasPrefix("/plain") ? .chunked : .contentLength
            return LoopbackResponse(body: .pattern(length: length), framing: framing)
        }
    }

    @Test(arguments: [true, false]) func `an empty batch completes`(measuresFirst: Bool) async throws {
        let client = try HTTPClientQueue(session: session)
        let batch = client.batch([HTTPRequestDescription](), as: .data, measuresFirst: measuresFirst)
        let results = await batch.results
        #expect(results.isEmpty && batch.isFinished && batch.batchProgress.isComplete)
        var last: BatchProgress?
        for await progress in batch.batchProgressUpdates { last = progress }
        #expect(last == BatchProgress(total: 0))
        await client.waitUntilIdle()
    }

    @Test func `a batch completes once, after every member, with the results in order`() async throws {
        let gate = LoopbackGate()
        try await withServer({ request in
            if request.path == "/0" { try? await gate.pass() }
            return request.path == "/1" ? .notFound : .text(request.path)
        }) { server in
            let client = try HTTPClientQueue(base: server.url, session: session)
            let batch = client.batch((0..<3).map { get("/\($0)") }, as: .text)
            let ended = Journal<String>()
            let after = BlockOperation { ended.append("after") }
            after.addDependency(batch)
            client.queue.addOperation(after)
            for await progress in batch.batchProgressUpdates where progress.finished == 2 { break }
            #expect(!batch.isFinished && ended.entries.isEmpty && batch.batchProgress.failed == 1)
            gate.open()
            let results = await batch.results
            #expect(results.map(text) == ["/0", "unacceptableStatus", "/2"])
            #expect(batch.isFinished && batch.batchProgress.isComplete)
            await after.waitUntilFinished()
            #expect(ended.entries == ["after"])
            #expect(await reason { try await batch.values }?.text == "unacceptableStatus")
            // The batch itself succeeds.
            if case .succeeded? = batch.operationOutcome {} else { Issue.record("it failed") }
        }
    }

    @Test func `measuring by HEAD makes the total known before the first body`() async throws {
        let gate = LoopbackGate()
        let folder = try Folder()
        try await withServer(lengths(gate)) { server in
            let client = try HTTPClientQueue(base: server.url, session: session)
            let batch = client.batch(
                [.download("/1000", to: folder.file("a")), .download("/20000", to: folder.file("b"))],
                measuresFirst: true)
            await gate.reached(2)
            #expect(batch.batchProgress.totalBytes == 21_000 && batch.batchProgress.completedBytes == 0)
            #expect(
                server.requests.prefix(2).allSatisfy { $0.method == .head && $0.fields[.acceptEncoding] == "identity" })
            gate.open()
            let paths = try await batch.values
            #expect(paths == [folder.file("a"), folder.file("b")] && folder.names == ["a", "b"])
            #expect(server.requests.count == 4)
            let progress = batch.batchProgress
            #expect(progress.completedBytes == 21_000 && progress.totalBytes == 21_000 && progress.fraction == 1)
        }
    }

    @Test func `received bytes never exceed the actual bytes, and match them at the end`() async throws {
        try await withServer(lengths()) { server in
            let client = try HTTPClientQueue(base: server.url, session: session)
            let requests = [500_000, 70_000, 3].map { get("/\($0)") } + [get("/plain/40000"), get("/none")]
            client.isSuspended = true
            let batch = client.batch(requests, as: .data)
            let updates = batch.batchProgressUpdates
            client.isSuspended = false
            var last = BatchProgress(total: 5)
            for await progress in updates {
                #expect(progress.finished >= last.finished && progress.completedBytes >= last.completedBytes)
                if let expected = progress.totalBytes { #expect(progress.completedBytes <= expected) }
                last = progress
            }
            #expect(last.isComplete && last.failed == 1)
            let results = await batch.results
            let count = results.reduce(0) { $0 + ((try? $1.get().count) ?? 0) }
            #expect(count == 610_003 && last.completedBytes >= 610_003 && last.totalBytes == last.completedBytes)
        }
    }

    @Test func `a HEAD without a length is not a failure, and its member counts when its length is known`()
        async throws
    {
        let gate = LoopbackGate()
        try await withServer({ [lengths = lengths(gate)] request in
            if request.method == .head, request.path == "/7" { return .notFound }
            if request.method == .head, request.path == "/8" {
                return LoopbackResponse().with(.closesUnanswered)
            }
            if request.method == .head, request.path == "/plain/9" {
                return LoopbackResponse(framing: .untilClose)
            }
            return await lengths(request)
        }) { server in
            let client = try HTTPClientQueue(base: server.url, session: session)
            let batch = client.batch(
                [get("/7"), get("/8"), get("/plain/9"), get("/10")], as: .data, measuresFirst: true)
            await gate.reached(4)
            #expect(batch.batchProgress.totalBytes == nil && batch.batchProgress.failed == 0)
            gate.open()
            let values = try await batch.values
            #expect(values.map(\.count) == [7, 8, 9, 10])
            #expect(batch.batchProgress.totalBytes == 34 && batch.batchProgress.failed == 0)
        }
    }

    @Test(arguments: [true, false]) func `the policy decides whether the first failure cancels the rest`(
        cancels: Bool
    ) async throws {
        let gate = LoopbackGate()
        try await withServer({ request in
            if request.path == "/bad" {
                await gate.reached(2)
                return .notFound
            }
            // The gate throws for cancelled tasks, which then stop waiting.
            try? await gate.pass()
            return .text(request.path)
        }) { server in
            let client = try HTTPClientQueue(base: server.url, maxConcurrentRequests: 3, session: session)
            let batch = client.batch(
                ["/1", "/bad", "/2", "/3"].map { get($0) }, as: .text,
                onFailure: cancels ? .cancelRemaining : .continueRemaining)
            for await progress in batch.batchProgressUpdates where progress.failed > 0 { break }
            if !cancels { gate.open() }
            let results = await batch.results
            #expect(
                results.map(text)
                    == (cancels
                        ? ["cancelled", "unacceptableStatus", "cancelled", "cancelled"]
                        : ["/1", "unacceptableStatus", "/2", "/3"]))
            #expect(await reason { try await batch.values }?.text == "unacceptableStatus")
            if case .failed? = batch.operationOutcome { #expect(cancels) } else { #expect(!cancels) }
            await client.waitUntilIdle()
            #expect(client.counts.outstanding == 0)
        }
    }

    @Test func `cancelling a batch cancels its own handles only`() async throws {
        let gate = LoopbackGate()
        try await withServer({ request in
            try? await gate.pass()
            return .text(request.path)
        }) { server in
            let client = try HTTPClientQueue(base: server.url, session: session)
            let handle = client.get("/shared", as: .text)
            let batch = client.batch([get("/shared"), get("/own")], as: .text)
            await gate.reached(2)
            #expect(client.counts.coalesced == 1)
            batch.cancel()
            let results = await batch.results
            #expect(results.map(text) == ["cancelled", "cancelled"])
            #expect(batch.isCancelled && batch.isFinished && handle.transfer?.isCancelled == false)
            gate.open()
            let value = try await handle.value
            #expect(value == "/shared")
            await client.waitUntilIdle()
            #expect(client.counts.cancelled == 1 && client.counts.finished == 1)
        }
    }

    @Test(arguments: [true, false]) func `every member of a batch that is cancelled at once has a result`(
        measuresFirst: Bool
    ) async throws {
        // The server never responds, because a member may begin just before its cancellation.
        let gate = LoopbackGate()
        try await withServer({ _ in .text("x").with(.stalls(.beforeHead, until: gate)) }) { server in
            let client = try HTTPClientQueue(base: server.url, session: session)
            for isAll in [false, true] {
                client.isSuspended = true
                let batch = client.batch((0..<20).map { get("/\($0)") }, as: .data, measuresFirst: measuresFirst)
                if isAll { client.cancelAll() } else { batch.cancel() }
                client.isSuspended = false
                let results = await batch.results
                #expect(results.map(text) == Array(repeating: "cancelled", count: 20))
                #expect(batch.batchProgress.finished == 20 && batch.batchProgress.failed == 20)
                await client.waitUntilIdle()
                #expect(client.counts.outstanding == 0)
            }
            gate.open()
        }
    }

    @Test func `no member begins after a cancellation during measuring`() async throws {
        let gate = LoopbackGate()
        try await withServer({ _ in
            try? await gate.pass()
            return .text("x")
        }) { server in
            let client = try HTTPClientQueue(base: server.url, session: session)
            let batch = client.batch([get("/1"), get("/2")], as: .text, measuresFirst: true)
            await gate.reached(2)
            client.cancelAll()
            let results = await batch.results
            #expect(results.map(text) == ["cancelled", "cancelled"])
            await client.waitUntilIdle()
            #expect(!server.requests.contains { $0.method == .get })
        }
    }

    @Test func `a paused batch continues where it stopped, and shared transfers do not pause`() async throws {
        let gates = (shared: LoopbackGate(), own: LoopbackGate())
        let resource = LoopbackResource(.pattern(length: 90_000), eTag: "\"a\"")
        try await withServer({ request in
            let response = resource.response(to: request)
            if request.path == "/shared" { return response.with(.stalls(.afterBody(30_000), until: gates.shared)) }
            return request.fields[.range] == nil
                ? response.with(.stalls(.afterBody(60_000), until: gates.own)) : response
        }) { server in
            let folder = try Folder()
            let client = try HTTPClientQueue(base: server.url, maxConcurrentRequests: 2, session: session)
            let handle = client.get("/shared", as: .data)
            let batch = client.batch([
                .download("/own", to: folder.file("x")),
                .request(get("/shared"), as: HTTPSerializer<Data>.data.map { "\($0.count)" }),
            ])
            for await progress in batch.batchProgressUpdates where progress.completedBytes == 90_000 { break }
            batch.pause()
            // The paused member has freed its slot.
            await client.queue.addTask {}.waitUntilFinished()
            #expect(client.counts.paused == 1 && client.counts.running == 1)
            gates.shared.open()
            let shared = try await handle.value
            #expect(shared.count == 90_000)
            #expect(!batch.isFinished)
            batch.resume()
            let values = try await batch.values
            #expect(values == [folder.file("x"), "90000"])
            #expect(server.requests.last?.fields[.range] == "bytes=60000-")
            #expect(batch.batchProgress.completedBytes == 180_000 && batch.batchProgress.totalBytes == 180_000)
        }
    }

    @Test func `a batch that is paused before its start waits, and cancelling ends it`() async throws {
        try await withServer({ .text($0.path) }) { server in
            let client = try HTTPClientQueue(base: server.url, session: session)
            for isCancelled in [false, true] {
                client.isSuspended = true
                let batch = client.batch([get("/1"), get("/2")], as: .text, measuresFirst: true)
                batch.pause()
                client.isSuspended = false
                if isCancelled { batch.cancel() } else { batch.resume() }
                let results = await batch.results
                #expect(results.map(text) == (isCancelled ? ["cancelled", "cancelled"] : ["/1", "/2"]))
            }
        }
    }

    @Test func `existing operations can be members, also those in another queue`() async throws {
        let gate = LoopbackGate()
        try await withServer({ request in
            if request.path == "/elsewhere" { try? await gate.pass() }
            return request.path == "/none" ? .notFound : .text(request.path)
        }) { server in
            let client = try HTTPClientQueue(session: session)
            let queue = OperationQueue()
            let operations = ["/new", "/elsewhere", "/none", "/finished"].map { path in
                HTTPDataOperation(get(server.url + path), session: session)
            }
            queue.addOperation(operations[3])
            _ = try await operations[3].value
            queue.addOperation(operations[1])
            await gate.reached()
            let batch = client.batch(operations as [HTTPOperation], measuresFirst: true)
            for await progress in batch.batchProgressUpdates where progress.finished == 3 { break }
            gate.open()
            let results = await batch.results
            let answered = results.map { result in (try? result.get()).map { $0 === operations[2] } }
            #expect(answered == [false, false, nil, false])
            #expect(text(results[2]) == "unacceptableStatus")
            let areFinished = operations.allSatisfy { $0.isFinished }
            #expect(areFinished)
            // The client does not count the members in the other queue. It sent HEAD for the two new members.
            #expect(client.counts.added == 4)
        }
    }

    @Test(arguments: 0..<UInt64(20))
    func `a batch ends once with all results after cancelling, pausing and resuming at any moment`(
        seed: UInt64
    ) async throws {
        try await withServer({ .text($0.path) }) { server in
            var random = SeededRandom(seed: seed)
            let client = try HTTPClientQueue(base: server.url, maxConcurrentRequests: 3, session: session)
            let batch = client.batch(
                (0..<12).map { get("/\($0 % 5)") }, as: .text, measuresFirst: random.below(2) == 0,
                onFailure: random.below(2) == 0 ? .continueRemaining : .cancelRemaining)
            let orders = (0..<6).map { _ in random.below(8) }
            for order in orders {
                switch order {
                case 0: batch.cancel()
                case 1...3: batch.pause()
                default: batch.resume()
                }
                await Task.yield()
            }
            batch.resume()
            let results = await batch.results
            #expect(results.count == 12 && batch.batchProgress.finished == 12)
            let expected = (0..<12).map { "/\($0 % 5)" }
            if !orders.contains(0) { #expect(results.map(text) == expected) }
            await client.waitUntilIdle()
            #expect(client.counts.outstanding == 0)
        }
    }
}
