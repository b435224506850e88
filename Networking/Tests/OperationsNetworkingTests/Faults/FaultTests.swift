import Foundation
import HTTPTypes
import HTTPTestServer
import Operations
import OperationsNetworking
import OperationsTesting
import TestSupport
import Testing

/// Faults at every point of a request (rules R3 and R10).
///
/// Each fault ends in one completion with the right error, and frees connection, operation and slot.
@Suite(.timeLimit(.minutes(5))) struct FaultTests {
    struct Cell: Sendable, CustomTestStringConvertible {
        let name: String
        let response: @Sendable (LoopbackGate) -> LoopbackResponse
        let expected: Set<String>
        var testDescription: String { name }
    }

    private static let body = LoopbackBody.pattern(length: 50_000)
    private static let points: [(String, LoopbackResponse.Point)] = [
        ("before the head", .beforeHead), ("after the head", .afterHead), ("in the body", .afterBody(20_000)),
    ]

    static let cells: [Cell] =
        points.flatMap { place, point -> [Cell] in
            let broken: Set<String> = ["connection", "truncated"]
            return [
                Cell(
                    name: "closed \(place)", response: { _ in LoopbackResponse(body: body).with(.closes(point)) },
                    expected: broken),
                Cell(
                    name: "reset \(place)", response: { _ in LoopbackResponse(body: body).with(.resets(point)) },
                    expected: broken),
                Cell(
                    name: "closed \(place), chunked",
                    response: { _ in LoopbackResponse(body: body, framing: .chunked).with(.closes(point)) },
                    expected: broken),
                Cell(
                    name: "stalled \(place)",
                    response: { LoopbackResponse(body: body).with(.stalls(point, until: $0)) },
                    expected: ["timedOut"]),
            ]
        } + [
            Cell(
                name: "more announced",
                response: { _ in LoopbackResponse(body: body).with(.announces(length: 60_000)) },
                expected: ["truncated", "connection"]),
            Cell(
                name: "two lengths", response: { _ in LoopbackResponse(body: body).with(.conflictingLengths) },
                expected: ["connection", "truncated"]),
            Cell(
                name: "no status line", response: { _ in LoopbackResponse(body: body).with(.malformedStatus) },
                expected: ["connection"]),
            Cell(
                name: "a malformed chunk",
                response: { _ in LoopbackResponse(body: body, framing: .chunked).with(.malformedChunk(after: 100)) },
                expected: ["connection", "truncated"]),
            Cell(
                name: "an illegal field", response: { _ in LoopbackResponse(body: body).with(.malformedField) },
                expected: ["connection"]),
        ]

    @Test(arguments: cells) func `each fault ends a request once, with its reason, and frees slot and connection`(
        cell: Cell
    ) async throws {
        let folder = try Folder()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let clock = VirtualClock()
        let session = HTTPSession.plain { $0.setClock(clock) }
        let gate = LoopbackGate()
        try await withServer({ _ in cell.response(gate) }) { server in
            let request = get(server.url + "/")
            let memory = HTTPDataOperation(request, session: session)
            let download = HTTPDownloadOperation(request, to: folder.file("x"), session: session)
            let (completions, bothCompleted) = (Guarded(0), AsyncGate(2))
            for operation in [memory, download] as [HTTPOperation] {
                operation.completionBlock = {
                    completions.withLock { $0 += 1 }
                    bothCompleted.open()
                }
            }
            // In sequence, because the time limit of the first operation would also end the second.
            for (count, operation) in [(1, memory), (2, download)] as [(Int, HTTPOperation)] {
                queue.addOperation(operation)
                if cell.expected.contains("timedOut") {
                    await gate.reached(count)
                    // Only this loop advances the clock. The client may receive the bytes before the stall late, and then
                    // restart its limit.
                    while !operation.isFinished {
                        clock.advance(by: .seconds(10))
                        await Task.yield()
                    }
                }
                await operation.waitUntilFinished()
            }
            await queue.waitUntilAllOperationsAreFinished()
            for text in [
                await reason { try await memory.value }?.text, await reason { try await download.value }?.text,
            ] {
                #expect(cell.expected.contains(text ?? "no error"), "\(text ?? "no error")")
            }
            #expect(!FileManager.default.fileExists(atPath: folder.file("x")))
            await queue.addTask {}.waitUntilFinished()
            await bothCompleted.pass()
            await server.openConnections(are: 0)
            #expect(completions.withLock { $0 } == 2)
        }
    }

    /// Runs `body` when the first response stalls at a point.
    private func atPlace(
        _ place: String, _ body: (HTTPTestServer, HTTPDataOperation<Data>, OperationQueue) async throws -> Void
    ) async throws {
        let point = try #require(Self.points.first { $0.0 == place }?.1)
        let gate = LoopbackGate()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let session = HTTPSession.plain()
        let resource = LoopbackResource(Self.body, eTag: "\"a\"")
        try await withServer({ request in
            let response = resource.response(to: request)
            return request.number == 1 ? response.with(.stalls(point, until: gate)) : response
        }) { server in
            let operation = HTTPDataOperation(get(server.url + "/"), session: session)
            queue.addOperation(operation)
            await gate.reached()
            try await body(server, operation, queue)
        }
    }

    @Test(arguments: points.map(\.0))
    func `a request that is cancelled at any point ends once and closes its connection`(
        place: String
    ) async throws {
        try await atPlace(place) { server, operation, queue in
            operation.cancel()
            #expect(await reason { try await operation.value }?.text == "cancelled")
            await server.openConnections(are: 0)
            await queue.addTask {}.waitUntilFinished()
        }
    }

    @Test(arguments: points.map(\.0)) func `a request that is paused at any point succeeds after it is resumed`(
        place: String
    ) async throws {
        try await atPlace(place) { _, operation, queue in
            operation.pause()
            await queue.addTask {}.waitUntilFinished()
            #expect(operation.state == .paused)
            operation.resume()
            let value = try await operation.value
            #expect(value == Data(Self.body.bytes))
        }
    }

    @Test func `redirect loops, endless challenges and bombs end with specific errors`() async throws {
        let session = HTTPSession.plain { $0.credentials = Always() }
        let queue = OperationQueue()
        let routes = LoopbackRoutes([
            .redirectLoop("/loop"), .redirectChain("/chain"), .alwaysUnauthorized("/401"),
            .gzipBomb("/bomb", inflatingTo: 200 << 20),
            .always(
                "/chunked-bomb",
                LoopbackResponse(
                    fields: [.contentEncoding: "gzip"],
                    body: .bytes(LoopbackCompression.gzipBomb(inflatingTo: 8 << 20)), framing: .chunked)),
        ])
        let server = try await HTTPTestServer.start(routes: routes)
        for (path, expected) in [
            ("/loop/0", "redirectLoop"), ("/chain/9", "tooManyRedirects"), ("/401", "unacceptableStatus"),
            ("/chunked-bomb", "decompressionLimitExceeded"),
        ] {
            let operation = HTTPDataOperation(get(server.url + path), session: session)
            queue.addOperation(operation)
            #expect(await reason { try await operation.value }?.text == expected, "\(path)")
        }
        let bomb = HTTPDataOperation(get(server.url + "/bomb"), session: session)
        queue.addOperation(bomb)
        #expect(["decompressionLimitExceeded", "bodyTooLarge"].contains(await reason { try await bomb.value }?.text))
        await server.requestsInFlight(are: 0)
        await server.stop()
    }

    private struct Always: HTTPCredentialSource {
        func credential(for challenge: HTTPChallenge) async -> HTTPCredential? { .password(user: "a", password: "b") }
    }
}
