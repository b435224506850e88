import Dispatch
import Foundation
import HTTPTypes
import HTTPTestServer
import Operations
@testable import OperationsNetworking
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct PauseTests {
    private let session = HTTPSession.plain()

    /// Stalls in the middle of the first response. Later responses contain the whole resource or the requested part.
    private func resource(
        _ gate: LoopbackGate, lies: Set<LoopbackResource.Lie> = [], framing: LoopbackResponse.Framing = .contentLength
    ) -> HTTPTestServer.Handler {
        var resource = LoopbackResource(.pattern(length: 100_000), eTag: "\"one\"", lies: lies)
        resource.framing = framing
        return { [resource] request in
            let response = resource.response(to: request)
            return request.number == 1 ? response.with(.stalls(.afterBody(60_000), until: gate)) : response
        }
    }

    /// Pauses an operation that stalls in the middle of its first response, and waits until it has released its slot.
    private func pauseMidway(_ operation: HTTPOperation, in queue: OperationQueue) async {
        for await progress in operation.transferProgressUpdates where progress.received == 60_000 { break }
        operation.pause()
        await queue.addTask {}.waitUntilFinished()
    }

    private func queue(width: Int = 1) -> OperationQueue {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        return queue
    }

    @Test func `a pause stops a download whose data arrives faster than it is written`() async throws {
        let resource = LoopbackResource(.pattern(length: 8 << 20), eTag: "\"a\"")
        let folder = try Folder()
        let (writes, begun, more) = (Guarded(0), AsyncGate(), DispatchSemaphore(value: 0))
        try await withServer({ resource.response(to: $0) }) { server in
            let session = HTTPSession.plain {
                $0.fileSteps = { step in
                    guard step == .written,
                        writes.withLock({
                            $0 += 1; return $0
                        }) == 1
                    else { return }
                    begun.open()
                    more.wait()
                }
            }
            let operation = HTTPDownloadOperation(get(server.url + "/"), to: folder.file("x"), session: session)
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            queue.addOperation(operation)
            // More portions arrive while the first one is being written, and then the operation is paused.
            await begun.pass()
            await server.bodyBytesWritten(atLeast: 1 << 20)
            operation.pause()
            more.signal()
            await queue.addTask {}.waitUntilFinished()
            #expect(operation.state == .paused)
            #expect(writes.withLock { $0 } == 1)
            operation.resume()
            _ = try await operation.value
            #expect(folder.names == ["x"])
        }
    }

    @Test(arguments: [true, false]) func `a paused transfer frees its slot, and continues where it stopped`(
        isDownload: Bool
    ) async throws {
        let gate = LoopbackGate()
        let folder = try Folder()
        let queue = queue()
        let expected = Data(LoopbackBody.pattern(length: 100_000).bytes)
        try await withServer(resource(gate)) { server in
            let memory = HTTPDataOperation(get(server.url + "/"), session: session)
            let download = HTTPDownloadOperation(get(server.url + "/"), to: folder.file("a"), session: session)
            let operation: HTTPOperation = isDownload ? download : memory
            queue.addOperation(operation)
            await pauseMidway(operation, in: queue)
            #expect(operation.state == .paused && !operation.isExecuting && !operation.isFinished)
            await server.openConnections(are: 0)
            operation.resume()
            await operation.waitUntilFinished()
            let requests = server.requests
            #expect(requests.count == 2 && requests.last?.fields[.range] == "bytes=60000-")
            #expect(requests.last?.fields[.ifRange] == "\"one\"")
            if isDownload {
                let path = try await download.value
                #expect(try Data(contentsOf: URL(filePath: path)) == expected)
                #expect(folder.names == ["a"])
            } else {
                let value1 = try await memory.value
                #expect(value1 == expected)
            }
            #expect(
                operation.transferProgress == HTTPProgress(received: 100_000, expected: 100_000, sent: 0, toSend: nil))
        }
    }

    @Test(arguments: [true, false], [LoopbackResponse.Framing.contentLength, .chunked])
    func `a transfer requests the remaining bytes if the server sends less than the requested range`(
        isDownload: Bool, framing: LoopbackResponse.Framing
    ) async throws {
        let gate = LoopbackGate()
        let folder = try Folder()
        let queue = queue()
        let expected = Data(LoopbackBody.pattern(length: 100_000).bytes)
        try await withServer(resource(gate, lies: [.sendsLess], framing: framing)) { server in
            let memory = HTTPDataOperation(get(server.url + "/"), session: session)
            let download = HTTPDownloadOperation(get(server.url + "/"), to: folder.file("a"), session: session)
            let operation: HTTPOperation = isDownload ? download : memory
            queue.addOperation(operation)
            await pauseMidway(operation, in: queue)
            operation.resume()
            await operation.waitUntilFinished()
            if isDownload {
                let path = try await download.value
                #expect(try Data(contentsOf: URL(filePath: path)) == expected)
            } else {
                let value = try await memory.value
                #expect(value == expected)
            }
            #expect(server.requests.compactMap { $0.fields[.range] } == ["bytes=60000-", "bytes=80000-"])
        }
    }

    @Test(arguments: [
        LoopbackResource.Lie.ignoresRange, .shiftsContentRange, .omitsContentRange, .wrongTotal, .changesETagOfPart,
        .refusesRange,
    ])
    func `a transfer starts over unless the server sends the matching part`(lie: LoopbackResource.Lie) async throws {
        let gate = LoopbackGate()
        let queue = queue()
        try await withServer(resource(gate, lies: [lie])) { server in
            let operation = HTTPDataOperation(get(server.url + "/"), session: session)
            queue.addOperation(operation)
            await pauseMidway(operation, in: queue)
            operation.resume()
            let value2 = try await operation.value
            #expect(value2 == Data(LoopbackBody.pattern(length: 100_000).bytes))
        }
    }

    @Test func `a pause before the start delays a request, and cancelling ends it`() async throws {
        let queue = queue()
        try await withServer({ _ in .text("x") }) { server in
            let paused = HTTPDataOperation(get(server.url + "/1"), session: session)
            let cancelled = HTTPDataOperation(get(server.url + "/2"), session: session)
            for operation in [paused, cancelled] {
                operation.pause()
                queue.addOperation(operation)
            }
            await queue.addTask {}.waitUntilFinished()
            #expect(paused.state == .paused && server.requests.isEmpty)
            cancelled.cancel()
            #expect(await reason { try await cancelled.value }?.text == "cancelled")
            paused.resume()
            let value3 = try await paused.value
            #expect(value3 == Data("x".utf8))
        }
    }

    @Test func `cancelling a paused request ends it once`() async throws {
        let gate = LoopbackGate()
        let queue = queue()
        try await withServer(resource(gate)) { server in
            let operation = HTTPDataOperation(get(server.url + "/"), session: session)
            let (completions, hasCompleted) = (Guarded(0), AsyncGate())
            operation.completionBlock = {
                completions.withLock { $0 += 1 }
                hasCompleted.open()
            }
            queue.addOperation(operation)
            await pauseMidway(operation, in: queue)
            operation.cancel()
            #expect(await reason { try await operation.value }?.text == "cancelled")
            operation.resume()
            operation.pause()
            await queue.waitUntilAllOperationsAreFinished()
            // The wait for the queue may end before the completion block has run.
            await hasCompleted.pass()
            #expect(completions.withLock { $0 } == 1 && operation.state == .finished)
            await server.openConnections(are: 0)
        }
    }

    @Test func `hundreds of requests that are paused and resumed within a limit all succeed`() async throws {
        let queue = queue(width: 4)
        let resource = LoopbackResource(.pattern(length: 40_000), eTag: "\"one\"")
        try await withServer({ resource.response(to: $0) }) { server in
            let operations = (0..<300).map { HTTPDataOperation(get(server.url + "/\($0)"), session: session) }
            await queue.addOperations(operations, waitUntilFinished: false)
            await withTaskGroup { group in
                for (index, operation) in operations.enumerated() {
                    group.addTask {
                        for _ in 0..<(index % 4) {
                            operation.pause()
                            await Task.yield()
                            operation.resume()
                        }
                    }
                }
            }
            for operation in operations {
                let count = try await operation.value.count
                #expect(count == 40_000)
            }
        }
    }
}
