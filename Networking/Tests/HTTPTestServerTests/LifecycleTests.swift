#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import HTTPTestServer
import TestSupport
import Testing

@Suite struct LifecycleTests {
    static func entries(of directory: String) -> Int {
        guard let stream = opendir(directory) else { return 0 }
        defer { closedir(stream) }
        var count = 0
        while readdir(stream) != nil { count += 1 }
        return count
    }

    /// The number of threads of event loops. Other suites create hundreds of other threads at the same time.
    private static var loopCount: Int {
        guard let stream = opendir("/proc/self/task") else { return 0 }
        defer { closedir(stream) }
        var count = 0
        while let entry = readdir(stream) {
            let thread = withUnsafeBytes(of: &entry.pointee.d_name) { name in
                String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let file = fopen("/proc/self/task/\(thread)/comm", "r") else { continue }
            defer { fclose(file) }
            var name = [CChar](repeating: 0, count: 32)
            if fgets(&name, 32, file) != nil, strncmp(name, "NIO-", 4) == 0 { count += 1 }
        }
        return count
    }

    @Test func `two hundred servers leave no threads or descriptors`() async throws {
        let (threads, descriptors) = (Self.loopCount, Self.entries(of: "/proc/self/fd"))
        for _ in 0..<200 {
            let server = try await HTTPTestServer.start { _ in .text("here") }
            let log = try await RawClient.exchange(FaultTests.get, port: server.port)
            #expect(log.text.hasSuffix("here"))
            await server.stop()
            #expect(server.openConnections == 0)
        }
        // Other suites run at the same time and have event loops of their own, but fewer than two hundred.
        #expect(Self.loopCount < threads + 100)
        #expect(Self.entries(of: "/proc/self/fd") < descriptors + 150)
    }

    @Test(arguments: HTTPTestServer.Configuration.TransportProtocol.allCases)
    func `stop ends stalled connections, and returns after they are closed`(
        kind: HTTPTestServer.Configuration.TransportProtocol
    ) async throws {
        let gate = LoopbackGate()
        let server = try await HTTPTestServer.start(.init(protocol: kind)) { _ in
            .text("abc").with(.stalls(.afterBody(1), until: gate))
        }
        let clients = [
            try await RawClient.connect(to: server.port), try await RawClient.connect(to: server.port),
        ]
        if kind == .http1 {
            try await clients[0].send(FaultTests.get)
            await gate.reached()
        }
        await server.openConnections(are: 2)
        await server.stop()
        #expect(server.openConnections == 0)
        for client in clients {
            let log = await client.everything()
            #expect(log.ending != nil)
        }
        await gate.deserted()
        await server.requestsInFlight(are: 0)
        await server.stop()
        await #expect(throws: (any Error).self) { try await RawClient.connect(to: server.port) }
    }

    @Test func `stop does not wait for a handler that ignores cancellation`() async throws {
        let gate = AsyncGate()
        let server = try await HTTPTestServer.start { _ in
            await gate.pass()
            return .text("late")
        }
        let client = try await RawClient.connect(to: server.port)
        try await client.send(FaultTests.get)
        await server.requests(atLeast: 1)
        await server.stop()
        let log = await client.everything()
        #expect(log.bytes.isEmpty && server.requestsInFlight == 1)
        gate.open()
        await server.requestsInFlight(are: 0)
    }

    @Test func `concurrent servers do not share counts`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...10 {
                group.addTask {
                    try await HTTPTestServer.with(handler: { _ in .text("server \(number)") }) { server in
                        for _ in 0..<number {
                            let log = try await RawClient.exchange(FaultTests.get, port: server.port)
                            #expect(log.text.hasSuffix("server \(number)"))
                        }
                        #expect(server.requests.count == number && server.connectionsEver == number)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `the server listens on 127-0-0-1 only`() async throws {
        try await HTTPTestServer.with(handler: { _ in .text("") }) { server in
            #expect(server.url == "http://127.0.0.1:\(server.port)")
            #expect(server.localhostURL == "http://localhost:\(server.port)")
            await #expect(throws: (any Error).self) { try await RawClient.connect(to: server.port, of: "127.0.0.2") }
        }
    }
}
