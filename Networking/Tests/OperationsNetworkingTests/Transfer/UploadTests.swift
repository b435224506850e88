import Foundation
import HTTPTypes
import HTTPTestServer
import Operations
@testable import OperationsNetworking
import TestSupport
import Testing

/// Request bodies: forms and sequences.
@Suite(.timeLimit(.minutes(5))) struct UploadTests {
    private let queue = OperationQueue()
    private let session = HTTPSession.plain()

    private func run<Value>(_ operation: HTTPDataOperation<Value>) async throws -> Value {
        queue.addOperation(operation)
        return try await operation.value
    }

    // MARK: - Forms

    @Test func `a form with files arrives unchanged, with its length, and again after a redirect`() async throws {
        let folder = try Folder()
        let file = Data(LoopbackBody.pattern(length: 200_000).bytes)
        try file.write(to: URL(filePath: folder.file("photo.jpg")))
        try Data().write(to: URL(filePath: folder.file("empty")))
        var form = MultipartForm()
        form.append("title", "näme \"x\"")
        form.append("photo", filePath: folder.file("photo.jpg"), contentType: "image/jpeg")
        form.append("empty", filePath: folder.file("empty"))
        form.append("data", Data([0, 13, 10, 255]), fileName: "a\r\nb\"")
        let routes = LoopbackRoutes([
            .redirect("/", to: "/there", .temporaryRedirect), .always("/there", LoopbackResponse.text("taken")),
        ])
        try await withServer({ await routes.answer($0) }) { server in
            let request = HTTPRequestDescription(.post, server.url + "/", body: .multipart(form))
            let answer = try await run(HTTPDataOperation(request, as: .text, session: session))
            #expect(answer == "taken")
            #expect(server.requests.count == 2)
            for request in server.requests {
                let type = try #require(request.fields[.contentType])
                let boundary = try #require(type.wholeMatch(of: /multipart\/form-data; boundary=(.+)/)?.1)
                var expected = Data(
                    """
                    --\(boundary)\r\nContent-Disposition: form-data; name="title"\r\n\r\n\
                    näme "x"\r\n--\(boundary)\r\n\
                    Content-Disposition: form-data; name="photo"; filename="photo.jpg"\r\n\
                    Content-Type: image/jpeg\r\n\r\n
                    """.utf8)
                expected += file + Data("\r\n--\(boundary)\r\n".utf8)
                expected += Data(
                    """
                    Content-Disposition: form-data; name="empty"; filename="empty"\r\n\
                    Content-Type: application/octet-stream\r\n\r\n\r\n--\(boundary)\r\n\
                    Content-Disposition: form-data; name="data"; filename="a%0D%0Ab%22"\r\n\r\n
                    """.utf8)
                expected += Data([0, 13, 10, 255]) + Data("\r\n--\(boundary)--\r\n".utf8)
                #expect(Data(request.body) == expected)
                #expect(request.fields[.contentLength] == "\(expected.count)")
            }
        }
    }

    @Test func `a form with a missing file fails before anything is sent`() async throws {
        let folder = try Folder()
        var form = MultipartForm()
        form.append("file", filePath: folder.file("none"))
        try await withServer({ _ in LoopbackResponse() }) { server in
            let request = HTTPRequestDescription(.post, server.url + "/", body: .multipart(form))
            let why = await reason { try await run(HTTPDataOperation(request, session: session)) }
            #expect(why?.text == "cannotRead")
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a folder, a pipe and a device are refused before anything is sent`() async throws {
        let folder = try Folder()
        mkfifo(folder.file("pipe"), 0o600)
        try await withServer({ _ in LoopbackResponse() }) { server in
            for path in [folder.path, folder.file("pipe"), "/dev/null"] {
                var form = MultipartForm()
                // The lengths that systems report for two folders exceed the largest integer.
                form.append("one", filePath: path)
                form.append("other", filePath: path)
                for body in [HTTPRequestBody.file(path: path), .multipart(form)] {
                    let request = HTTPRequestDescription(.post, server.url + "/", body: body)
                    let why = await reason { try await run(HTTPDataOperation(request, session: session)) }
                    #expect(why?.text == "cannotRead")
                }
            }
            #expect(server.requests.isEmpty)
        }
    }

    // MARK: - Sequences

    @Test(arguments: [nil, 300_000] as [Int64?])
    func `a sequence is sent while it is produced, in chunks or with its length`(
        length: Int64?
    ) async throws {
        let expected = Data(LoopbackBody.pattern(length: 300_000).bytes)
        let (pieces, maker) = AsyncStream.makeStream(of: Data.self)
        let arrived = LoopbackGate()
        try await withServer({ request in
            try? await arrived.pass()
            return LoopbackResponse.text(request.bodySHA256)
        }) { server in
            let operation = HTTPDataOperation(
                HTTPRequestDescription(.put, server.url + "/"), sending: HTTPBodySource(pieces, length: length),
                as: .text,
                session: session)
            queue.addOperation(operation)
            for start in stride(from: 0, to: expected.count, by: 100_000) {
                maker.yield(expected[start..<start + 100_000])
                for await progress in operation.transferProgressUpdates where progress.sent >= start { break }
            }
            maker.finish()
            arrived.open()
            let digest = try await operation.value
            let request = try #require(server.requests.first)
            #expect(digest == request.bodySHA256 && Data(request.body) == expected)
            #expect(request.fields[.contentLength] == length.map { "\($0)" })
            #expect(operation.transferProgress.sent == 300_000 && operation.transferProgress.toSend == length)
            #expect(operation.metrics.sent == 300_000)
        }
    }

    @Test func `a sequence that must be sent twice fails with a specific error`() async throws {
        let routes = LoopbackRoutes([
            .redirect("/moved", to: "/", .temporaryRedirect),
            .unavailable(times: 1, then: .always("/busy", LoopbackResponse())),
            .always("/", LoopbackResponse.text("taken")),
        ])
        try await withServer({ await routes.answer($0) }) { server in
            func upload(_ path: String) -> HTTPDataOperation<String> {
                var request = HTTPRequestDescription(.put, server.url + path)
                request.retrySafety = .idempotent
                return HTTPDataOperation(
                    request, sending: HTTPBodySource(AsyncStream { nil as [UInt8]? }), as: .text, session: session)
            }
            let moved = await reason { try await run(upload("/moved")) }
            #expect(moved?.text == "bodyNotRepeatable")
            let busy = await reason { try await run(upload("/busy")) }
            #expect(busy?.text == "unacceptableStatus", "it is not tried again")
            let once = upload("/")
            let taken = try await run(once)
            #expect(taken == "taken")
            let again = await reason { try await run(once.copy()) }
            #expect(again?.text == "bodyNotRepeatable")
        }
    }

    @Test(arguments: [5, 20] as [Int64])
    func `a sequence of another length than announced, or one that fails, fails the request`(
        length: Int64
    ) async throws {
        struct Broken: Error {}
        try await withServer({ _ in LoopbackResponse() }) { server in
            let request = HTTPRequestDescription(.put, server.url + "/")
            let other = HTTPBodySource(
                AsyncStream { stream in
                    stream.yield([UInt8](repeating: 7, count: 10))
                    stream.finish()
                }, length: length)
            let why = await reason {
                try await run(HTTPDataOperation(request, sending: other, as: .data, session: session))
            }
            #expect(why?.text == "connection")
            let broken = HTTPBodySource(
                AsyncThrowingStream { stream in
                    stream.yield([UInt8](repeating: 7, count: 10))
                    stream.finish(throwing: Broken())
                })
            let failing = HTTPDataOperation(request, sending: broken, as: .data, session: session)
            let outcome = await result { try await run(failing) }
            #expect(throws: HTTPError.self) { try outcome.get() }
            await server.requestsInFlight(are: 0)
        }
    }

    @Test func `a request that is cancelled while its sequence is idle ends once and closes its connection`()
        async throws
    {
        let (pieces, maker) = AsyncStream.makeStream(of: [UInt8].self)
        try await withServer({ _ in LoopbackResponse() }) { server in
            let operation = HTTPDataOperation(
                HTTPRequestDescription(.put, server.url + "/"), sending: HTTPBodySource(pieces), as: .data,
                session: session)
            queue.addOperation(operation)
            maker.yield([1, 2, 3])
            for await progress in operation.transferProgressUpdates where progress.sent == 3 { break }
            operation.cancel()
            let why = await reason { try await operation.value }
            #expect(why?.text == "cancelled")
            await server.openConnections(are: 0)
        }
        maker.finish()
    }

    // MARK: - The field Accept

    @Test func `the serializer sets the field Accept, unless the request has one`() async throws {
        try await withServer({ LoopbackResponse.json("\"\($0.fields[.accept] ?? "none")\"") }) { server in
            func accepted(_ request: HTTPRequestDescription) async throws -> String {
                try await run(HTTPDataOperation(request, as: .json(String.self), session: session))
            }
            let json = try await accepted(get(server.url + "/"))
            #expect(json.hasPrefix("application/json"))
            var own = get(server.url + "/")
            own.fields[.accept] = "application/vnd.own+json"
            let ownAnswer = try await accepted(own)
            #expect(ownAnswer == "application/vnd.own+json")
            let data = try await run(HTTPDataOperation(get(server.url + "/"), session: session))
            #expect(String(decoding: data, as: UTF8.self) == "\"none\"")
            let client = try HTTPClientQueue(base: server.url, session: session)
            let handle = client.get("/", as: .json(String.self))
            let fromClient = try await handle.value
            #expect(fromClient.hasPrefix("application/json"))
        }
    }
}
