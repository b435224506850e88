import Foundation
import HTTPTypes
import HTTPTestServer
import Operations
import OperationsNetworking
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct HTTPOperationTests {
    private let queue = OperationQueue()
    private let session = HTTPSession.plain()

    @Test func `a request is an operation with dependencies, a typed value and a completion block`()
        async throws
    {
        try await withServer({ .text("asked for \($0.path)") }) { server in
            let first = HTTPDataOperation(get(server.url + "/first"), session: session)
            let second = HTTPDataOperation(get(server.url + "/second"), session: session)
            let order = Journal<String>()
            first.completionBlock = { order.append("first") }
            let after = BlockOperation { order.append("after") }
            second.addDependency(first)
            after.addDependency(second)
            await queue.addOperations([after, second, first], waitUntilFinished: true)
            let value1 = try await String(decoding: second.value, as: UTF8.self)
            #expect(value1 == "asked for /second")
            #expect(second.response?.status == .ok && second.state == .finished)
            #expect(second.metrics.exchanges == 1 && second.metrics.received == 17)
            #expect(order.entries.contains("after"))
        }
    }

    @Test func `a request runs once, and its copy runs anew`() async throws {
        try await withServer({ .text("\($0.number)") }) { server in
            let first = HTTPDataOperation(get(server.url + "/"), session: session)
            queue.addOperation(first)
            let value2 = try await first.value
            #expect(value2 == Data("1".utf8))
            #expect(throws: OperationError.self) { try queue.tryAddOperation(first) }
            let second = first.copy()
            #expect(second.state == .ready && second.response == nil)
            queue.addOperation(second)
            let value3 = try await second.value
            #expect(value3 == Data("2".utf8))
        }
    }

    @Test func `unfinished requests can be saved and restored`() throws {
        var request = HTTPRequestDescription(
            .put, "https://example.org/a?b", fields: [.accept: "text/plain"], body: .bytes(Data([1, 2])))
        request.limits.totalTimeout = .seconds(3)
        let data = try JSONEncoder().encode([request])
        #expect(try JSONDecoder().decode([HTTPRequestDescription].self, from: data) == [request])
    }

    @Test func `a cancelled queued request ends through its queue, with an error that names the address`()
        async throws
    {
        queue.isSuspended = true
        let operation = HTTPDataOperation(get("http://127.0.0.1:9/x"), session: session)
        queue.addOperation(operation)
        operation.cancel()
        #expect(!operation.isFinished && operation.state == .ready)
        queue.isSuspended = false
        let reason = await reason { try await operation.value }
        #expect(reason == HTTPCoreReason(text: "cancelled", url: "http://127.0.0.1:9/x"))
        #expect(operation.state == .finished)
    }

    @Test func `an invalid address fails, and so does an address without a server`() async throws {
        for (url, expected) in [
            ("nonsense", "invalidURL"), ("ftp://x/", "invalidURL"), ("http://127.0.0.1:1/", "connection"),
        ] {
            let operation = HTTPDataOperation(get(url), session: session)
            queue.addOperation(operation)
            #expect(await reason { try await operation.value }?.text == expected, "\(url)")
        }
    }

    @Test func `errors contain the address without user and password`() async throws {
        let operation = HTTPDataOperation(get("http://me:secret@127.0.0.1:1/x"), session: session)
        queue.addOperation(operation)
        #expect(await reason { try await operation.value }?.url == "http://127.0.0.1:1/x")
    }

    @Test func `a body above the memory limit is refused, with or without an announced length`() async throws {
        for framing in LoopbackResponse.Framing.allCases {
            try await withServer({ _ in LoopbackResponse(body: .pattern(length: 5000), framing: framing) }) { server in
                var request = get(server.url + "/")
                request.limits.maxBufferedBytes = 4999
                let operation = HTTPDataOperation(request, session: session)
                queue.addOperation(operation)
                #expect(await reason { try await operation.value }?.text == "bodyTooLarge")
                await server.requestsInFlight(are: 0)
            }
        }
    }

    @Test func `a body is sent from memory and from a file, and its bytes are counted`() async throws {
        let folder = try Folder()
        let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        try bytes.write(to: URL(filePath: folder.file("body")))
        try await withServer({ request in .text(request.bodySHA256 + " \(request.bodyLength)") }) { server in
            var answers: Set<Data> = []
            for body in [HTTPRequestBody.bytes(bytes), .file(path: folder.file("body"))] {
                let operation = HTTPDataOperation(
                    HTTPRequestDescription(.post, server.url + "/", body: body), session: session)
                queue.addOperation(operation)
                answers.insert(try await operation.value)
                #expect(operation.transferProgress.sent == 300_000 && operation.transferProgress.toSend == 300_000)
            }
            #expect(
                answers.count == 1
                    && answers.first.map { String(decoding: $0, as: UTF8.self).hasSuffix(" 300000") } == true)
        }
        let missing = HTTPDataOperation(
            HTTPRequestDescription(.post, "http://127.0.0.1:1/", body: .file(path: folder.file("none"))),
            session: session
        )
        queue.addOperation(missing)
        #expect(await reason { try await missing.value }?.text == "cannotRead")
    }

    @Test(arguments: ["GET", "OPTIONS", "PROPFIND", "M-SEARCH"])
    func `a method arrives as it was sent`(method: String) async throws {
        try await withServer({ .text($0.method.rawValue) }) { server in
            let request = HTTPRequestDescription(try #require(.init(rawValue: method)), server.url + "/")
            let operation = HTTPDataOperation(request, as: .text, session: .plain())
            OperationQueue().addOperation(operation)
            let text = try await operation.value
            #expect(text == method && server.requests.first?.method.rawValue == method)
        }
    }
}
