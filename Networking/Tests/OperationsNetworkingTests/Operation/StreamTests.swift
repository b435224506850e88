import Foundation
import HTTPTypes
import HTTPTestServer
import NIOCore
import Operations
@testable import OperationsNetworking
import OperationsTesting
import TestSupport
import Testing

/// Streamed bodies with readers that are slow, stop early, or are cancelled.
@Suite(.timeLimit(.minutes(5))) struct StreamTests {
    private let queue = OperationQueue()
    private let session = HTTPSession.plain()
    private let bytes = LoopbackBody.pattern(length: 3 << 20)

    init() { queue.maxConcurrentOperationCount = 1 }

    @Test func `a slow reader slows the server down, and does not exceed the idle limit`() async throws {
        let clock = VirtualClock()
        let session = HTTPSession.plain { $0.setClock(clock) }
        try await withServer({ _ in LoopbackResponse(body: bytes) }) { server in
            let operation = HTTPStreamOperation(get(server.url + "/"), session: session)
            queue.addOperation(operation)
            let iterator = operation.body.makeAsyncIterator()
            var count = try await iterator.next()?.count ?? 0
            // The channel is full, so the transfer no longer reads from the server.
            let full = Int64(count + BodyChannel.capacity)
            while !operation.transfer.record.withLock({ $0.received >= full && $0.waitsForReader }) {
                await Task.yield()
            }
            for _ in 0..<5 {
                clock.advance(by: .seconds(11))
                while clock.sleeperCount == 0, !operation.isFinished { await Task.yield() }
            }
            #expect(operation.transferProgress.received < 2 << 20)
            while let portion = try await iterator.next() { count += portion.count }
            #expect(count == 3 << 20)
        }
    }

    @Test func `received bytes are reported even if the reader is slow`() async throws {
        try await withServer({ _ in LoopbackResponse(body: bytes) }) { server in
            let operation = HTTPStreamOperation(get(server.url + "/"), session: session)
            var updates = operation.transferProgressUpdates.makeAsyncIterator()
            queue.addOperation(operation)
            let iterator = operation.body.makeAsyncIterator()
            while !operation.transfer.record.withLock({
                $0.received >= Int64(BodyChannel.capacity) && $0.waitsForReader
            }) {
                await Task.yield()
            }
            let reported = await updates.next()
            #expect(reported == operation.transferProgress)
            while try await iterator.next() != nil {}
        }
    }

    @Test func `a reader that stops ends the operation`() async throws {
        try await withServer({ _ in LoopbackResponse(body: bytes) }) { server in
            let operation = HTTPStreamOperation(get(server.url + "/"), session: session)
            queue.addOperation(operation)
            for try await _ in operation.body { break }
            await operation.waitUntilFinished()
            #expect(operation.isCancelled && operation.state == .finished)
            await server.openConnections(are: 0)
        }
    }

    @Test func `a cancelled reader ends the operation`() async throws {
        let gate = LoopbackGate()
        try await withServer({ _ in LoopbackResponse(body: bytes).with(.stalls(.afterHead, until: gate)) }) { server in
            let operation = HTTPStreamOperation(get(server.url + "/"), session: session)
            queue.addOperation(operation)
            let reader = Task { for try await _ in operation.body {} }
            await gate.reached()
            reader.cancel()
            _ = await reader.result
            await operation.waitUntilFinished()
            #expect(operation.isCancelled)
            await server.openConnections(are: 0)
        }
    }

    @Test func `a stream that is cancelled with a slow reader ends, and the reader gets the error`() async throws {
        try await withServer({ _ in LoopbackResponse(body: bytes) }) { server in
            let operation = HTTPStreamOperation(get(server.url + "/"), session: session)
            queue.addOperation(operation)
            let iterator = operation.body.makeAsyncIterator()
            _ = try await iterator.next()
            for await progress in operation.transferProgressUpdates
            where progress.received >= Int64(BodyChannel.capacity) {
                break
            }
            operation.cancel()
            await operation.waitUntilFinished()
            let reason = await reason { while try await iterator.next() != nil {} }
            #expect(reason?.text == "cancelled")
            await server.openConnections(are: 0)
        }
    }

    @Test func `a stream that is paused with a slow reader loses and repeats no byte`() async throws {
        let resource = LoopbackResource(bytes, eTag: "\"a\"")
        try await withServer({ resource.response(to: $0) }) { server in
            let operation = HTTPStreamOperation(get(server.url + "/"), session: session)
            queue.addOperation(operation)
            let iterator = operation.body.makeAsyncIterator()
            var all: [UInt8] = []
            for _ in 0..<4 {
                let target = operation.transferProgress.received + Int64(BodyChannel.capacity) / 2
                while operation.transferProgress.received < target, let portion = try await iterator.next() {
                    all += portion
                }
                operation.pause()
                await queue.addTask {}.waitUntilFinished()
                #expect(operation.state == .paused)
                operation.resume()
            }
            while let portion = try await iterator.next() { all += portion }
            #expect(all == bytes.bytes)
            #expect(server.requests.count == 5)
        }
    }

    @Test(arguments: [true, false]) func `many small portions have a linear cost`(isRead: Bool) async throws {
        let channel = BodyChannel()
        let portion = ByteBuffer(bytes: [1])
        for _ in 0..<BodyChannel.capacity - 1 { channel.write(portion) }
        channel.end(.success(()))
        var count = 0
        while let portion = try await channel.next() { count += portion.readableBytes }
        #expect(count == BodyChannel.capacity - 1)
    }

    @Test(arguments: 0..<UInt64(Stress.rounds(200, least: 60)))
    func `a writer and a reader end after a cancellation at any moment`(seed: UInt64)
        async throws
    {
        var random = SeededRandom(seed: seed)
        let channel = BodyChannel()
        let portion = ByteBuffer(bytes: [UInt8](repeating: 1, count: 1 + random.below(BodyChannel.capacity)))
        let (writes, yields, kind) = (1 + random.below(6), random.below(30), random.below(4))
        let writer = Task {
            for _ in 0..<writes {
                channel.write(portion)
                while !channel.hasRoom {
                    await channel.untilRoom()
                    try Task.checkCancellation()
                }
            }
            channel.end(.success(()))
        }
        let reader = Task {
            let iterator = HTTPBodyStream(channel: channel).makeAsyncIterator()
            var count = 0
            while let portion = try await iterator.next() { count += portion.count }
            return count
        }
        for _ in 0..<yields { await Task.yield() }
        switch kind {
        case 0: reader.cancel()
        case 1:
            writer.cancel()
            _ = await writer.result
            channel.abandon(CancellationError())
        case 2:
            reader.cancel()
            writer.cancel()
        default: break
        }
        _ = await writer.result
        let result = await reader.result
        if kind == 3 { #expect(try result.get() == writes * portion.readableBytes) }
    }

    @Test func `a source of credentials may exceed the idle limit`() async throws {
        let clock = VirtualClock()
        let gate = LoopbackGate()
        let session = HTTPSession.plain {
            $0.setClock(clock)
            $0.credentials = Slow(gate: gate)
        }
        let server = try await HTTPTestServer.start(
            routes: LoopbackRoutes([.basic(user: "a", password: "b", then: .always("/", .text("x")))]))
        let operation = HTTPDataOperation(get(server.url + "/"), session: session)
        queue.addOperation(operation)
        await gate.reached()
        for _ in 0..<3 {
            clock.advance(by: .seconds(11))
            while clock.sleeperCount == 0, !operation.isFinished, !gate.isOpen { await Task.yield() }
        }
        gate.open()
        let value = await result { try await operation.value }
        #expect((try? value.get()) == Data("x".utf8), "\(value)")
        await server.stop()
    }

    @Test func `the limit for the whole transfer counts earlier attempts, but not pauses`() async throws {
        let clock = VirtualClock()
        let gate = LoopbackGate()
        let session = HTTPSession.plain { $0.setClock(clock) }
        let resource = LoopbackResource(bytes, eTag: "\"a\"")
        try await withServer({ resource.response(to: $0).with(.stalls(.afterHead, until: gate)) }) { server in
            var request = get(server.url + "/")
            request.limits.idleTimeout = nil
            request.limits.totalTimeout = .seconds(10)
            let operation = HTTPDataOperation(request, session: session)
            queue.addOperation(operation)
            await gate.reached(1)
            clock.advance(by: .seconds(6))
            operation.pause()
            await queue.addTask {}.waitUntilFinished()
            clock.advance(by: .seconds(100))
            operation.resume()
            await gate.reached(2)
            while clock.sleeperCount == 0 { await Task.yield() }
            clock.advance(by: .seconds(4))
            #expect(await reason { try await operation.value }?.text == "timedOut")
        }
    }

    private struct Slow: HTTPCredentialSource {
        let gate: LoopbackGate

        func credential(for challenge: HTTPChallenge) async -> HTTPCredential? {
            try? await gate.pass()
            return .password(user: "a", password: "b")
        }
    }
}
