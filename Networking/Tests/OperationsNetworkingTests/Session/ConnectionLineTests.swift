import HTTPCore
import HTTPTestServer
import Operations
@testable import OperationsNetworking
import OperationsTesting
import TestSupport
import Testing

/// The requests that wait for one of the session's connections to a server.
@Suite(.timeLimit(.minutes(5))) struct ConnectionLineTests {
    private let clock = VirtualClock()
    private let queue = OperationQueue()

    private func session(connections: Int, _ server: HTTPTestServer) throws -> HTTPSession {
        try .trusting(server) {
            $0.setClock(clock)
            $0.connectionsPerHost = connections
        }
    }

    @Test func `the turns of one server and the first turns of many servers use all event loops`() {
        let servers = (0..<1_000).map { HTTPAddress("http://host\($0)/")!.origin }
        let loops = (0..<4).map { HTTPConnections.loop(of: 4, for: servers[0], turn: $0) }
        #expect(Set(loops) == [0, 1, 2, 3])
        #expect(HTTPConnections.loop(of: 4, for: servers[0], turn: 6) == loops[2])
        let count = servers.count { HTTPConnections.loop(of: 2, for: $0, turn: 0) == 0 }
        #expect((300...700).contains(count))
    }

    @Test func `a request waits for a connection outside async-http-client, without exceeding the idle limit`()
        async throws
    {
        let gate = LoopbackGate()
        try await withServer({ _ in .text("x").with(.stalls(.beforeHead, until: gate)) }) { server in
            let session = try session(connections: 2, server)
            var request = get(server.url + "/")
            // A request with a turn waits for the server, without a time limit.
            request.limits.idleTimeout = nil
            let first = (0..<2).map { _ in HTTPDataOperation(request, session: session) }
            await queue.addOperations(first, waitUntilFinished: false)
            await gate.reached(2)
            let line = session.connections.line
            let others = (0..<20).map { _ in HTTPDataOperation(get(server.url + "/"), session: session) }
            await queue.addOperations(others, waitUntilFinished: false)
            while others.contains(where: { $0.transfer.record.withLock { $0.waitsForOthers == 0 } }) {
                await Task.yield()
            }
            #expect(line.waitingCount == 20)
            // Longer than any limit. The second round shows that the watch has finished its first check.
            for _ in 0..<2 {
                while clock.sleeperCount == 0 { await Task.yield() }
                clock.advance(by: .seconds(3600))
            }
            #expect(line.turnCount == 2)
            gate.open()
            for operation in first + others { _ = try await operation.value }
            #expect(others.allSatisfy { $0.metrics.firstByte == .zero })
            #expect(server.connectionsEver <= 2)
            // A turn comes back after the end of the response.
            while line.turnCount > 0 { await Task.yield() }
            #expect(line.waitingCount == 0)
        }
    }

    @Test(arguments: [true, false]) func `a cancelled or paused request leaves the line`(isPaused: Bool) async throws {
        let gate = LoopbackGate()
        try await withServer({ _ in .text("x").with(.stalls(.beforeHead, until: gate)) }) { server in
            let session = try session(connections: 1, server)
            let operations = (0..<3).map { _ in HTTPDataOperation(get(server.url + "/"), session: session) }
            let line = session.connections.line
            for (number, operation) in operations.enumerated() {
                queue.addOperation(operation)
                while line.turnCount + line.waitingCount <= number { await Task.yield() }
            }
            if isPaused { operations[1].pause() } else { operations[1].cancel() }
            while line.waitingCount > 1 { await Task.yield() }
            gate.open()
            for index in [0, 2] { _ = try await operations[index].value }
            #expect(server.requests.count == 2)
            operations[1].resume()
            let reason = await reason { try await operations[1].value }
            #expect(reason?.text == (isPaused ? nil : "cancelled"))
            // A turn comes back after the end of the response.
            while line.turnCount > 0 { await Task.yield() }
            #expect(line.waitingCount == 0)
        }
    }

    @Test func `an HTTP 2 server gets all requests on one connection after its first response`()
        async throws
    {
        let (first, gate) = (LoopbackGate(), LoopbackGate())
        try await withServer(
            { .text("x").with(.stalls(.beforeHead, until: $0.path == "/first" ? first : gate)) },
            .init(protocol: .http2)
        ) { server in
            let session = try session(connections: 1, server)
            let line = session.connections.line
            queue.addOperation(HTTPDataOperation(get(server.url + "/first"), session: session))
            await first.reached()
            let others = (0..<20).map { HTTPDataOperation(get(server.url + "/\($0)"), session: session) }
            await queue.addOperations(others, waitUntilFinished: false)
            while line.waitingCount < 20 { await Task.yield() }
            first.open()
            await gate.reached(20)
            // The first request returns its turn after the end of its response.
            while line.turnCount > 20 { await Task.yield() }
            gate.open()
            for operation in others { _ = try await operation.value }
            #expect(server.connectionsEver == 1)
        }
    }

    @Test(arguments: 0..<UInt64(Stress.rounds(20, least: 8)))
    func `every turn comes back, for every outcome of a request`(
        seed: UInt64
    ) async throws {
        var random = SeededRandom(seed: seed)
        let faults: [LoopbackResponse.Fault?] = [nil, nil, .resets(.beforeHead), .resets(.afterHead)]
        let fault = faults[random.below(faults.count)]
        try await withServer({ request in
            let response = LoopbackResponse(body: .pattern(length: 300_000))
            return request.path == "/fault" ? fault.map { response.with($0) } ?? response : response
        }) { server in
            let session = try session(connections: 1 + random.below(3), server)
            let operations = (0..<30).map { _ in
                HTTPDataOperation(get(server.url + (random.chance(30) ? "/fault" : "/")), session: session)
            }
            await queue.addOperations(operations, waitUntilFinished: false)
            for _ in 0..<60 {
                let operation = operations[random.below(operations.count)]
                switch random.below(3) {
                case 0: operation.pause()
                case 1: operation.resume()
                default: if random.chance(30) { operation.cancel() }
                }
                for _ in 0..<random.below(50) { await Task.yield() }
            }
            for operation in operations {
                operation.resume()
                await operation.waitUntilFinished()
            }
            let line = session.connections.line
            while line.turnCount > 0 { await Task.yield() }
            #expect(line.waitingCount == 0)
        }
    }
}
