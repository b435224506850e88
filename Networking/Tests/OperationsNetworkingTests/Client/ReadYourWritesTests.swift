import Foundation
import HTTPCaching
import HTTPTypes
import HTTPTestServer
import Operations
import OperationsNetworking
import TestSupport
import Testing

/// Requests that follow a change and must reflect the change (rules N2 and C1).
@Suite(.timeLimit(.minutes(2))) struct ReadYourWritesTests {
    /// A server with one text. The first GET reads the text and then waits at the gate; other methods change the text.
    private func withText(
        _ body: (HTTPTestServer, LoopbackGate) async throws -> Void
    ) async throws {
        let (gate, text, gets) = (LoopbackGate(), Guarded("old"), Guarded(0))
        try await withServer({ request in
            guard request.method == .get else {
                text.withLock { $0 = "new" }
                return LoopbackResponse(request.path == "/fails" ? .internalServerError : .noContent)
            }
            var response = LoopbackResponse.text(text.withLock { $0 })
            response.fields[.cacheControl] = "max-age=600"
            let number = gets.withLock { count in
                count += 1
                return count
            }
            if number == 1 { try? await gate.pass() }
            return response
        }) { server in
            try await body(server, gate)
        }
    }

    @Test(arguments: [HTTPCachePolicy.default, .ignore], ["/list", "/other", "/fails"])
    func `a GET that follows a POST does not join an older GET`(policy: HTTPCachePolicy, path: String) async throws {
        try await withText { server, gate in
            let client = try HTTPClientQueue(session: .plain { $0.cache = .inMemory() })
            var request = get(server.url + "/list")
            request.cachePolicy = policy
            let older = client.load(request, as: .text)
            await gate.reached()
            let joining = client.load(request, as: .text)
            #expect(joining.transfer === older.transfer, "nothing has changed yet")
            _ = await result { try await client.post(server.url + path, .none, as: .data).value }
            let newer = client.load(request, as: .text)
            #expect(newer.transfer !== older.transfer)
            if newer.transfer === older.transfer { gate.open() }
            let text = try await newer.value
            #expect(text == "new")
            let later = client.load(request, as: .text)
            _ = try await later.value
            gate.open()
            let texts = [try await older.value, try await joining.value]
            #expect(texts == ["old", "old"])
        }
    }

    enum Change: String, CaseIterable, Sendable { case post, remove, removeAll, otherCache, operationOfNoClient }

    @Test(arguments: Change.allCases, [true, false])
    func `a response that was requested before a change is not stored after the change`(
        change: Change, isOnDisk: Bool
    ) async throws {
        guard isOnDisk || change != .otherCache else { return }
        let folder = try Folder()
        try await withText { server, gate in
            let cache = isOnDisk ? try HTTPCache(directory: folder.file("cache")) : HTTPCache.inMemory()
            let session = HTTPSession.plain { $0.cache = cache }
            let url = server.url + "/list"
            let older = HTTPDataOperation(get(url), as: .text, session: session)
            let queue = OperationQueue()
            queue.addOperation(older)
            await gate.reached()
            let post = HTTPRequestDescription(.post, url)
            switch change {
            case .post, .operationOfNoClient:
                let operation = HTTPDataOperation(post, session: session)
                queue.addOperation(operation)
                _ = try await operation.value
            case .otherCache:
                let other = try HTTPCache(directory: folder.file("cache"))
                let operation = HTTPDataOperation(post, session: .plain { $0.cache = other })
                queue.addOperation(operation)
                _ = try await operation.value
            case .remove: await cache.remove(url)
            case .removeAll: await cache.removeAll()
            }
            gate.open()
            let text = try await older.value
            #expect(text == "old")
            let newer = HTTPDataOperation(get(url), as: .text, session: session)
            queue.addOperation(newer)
            _ = try await newer.value
            #expect(!newer.servedFromCache)
        }
    }

    @Test func `progress and events end with their operation and their client`() async throws {
        var client: HTTPClientQueue? = try HTTPClientQueue(session: .plain())
        var operation: HTTPDataOperation<Data>? = HTTPDataOperation(get("http://127.0.0.1:1/"), session: .plain())
        let events = try #require(client?.requestEvents)
        let updates = try #require(operation?.transferProgressUpdates)
        client = nil
        operation = nil
        for await _ in events {}
        for await _ in updates {}
        _ = (client, operation)
    }
}
