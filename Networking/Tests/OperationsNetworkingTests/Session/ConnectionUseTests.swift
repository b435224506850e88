import HTTPTypes
import HTTPTestServer
import NIOHTTP1
import Operations
@testable import OperationsNetworking
import OperationsTesting
import Testing

/// The connection of a request, and requests on connections that were closed meanwhile.
@Suite(.timeLimit(.minutes(5))) struct ConnectionUseTests {
    private let queue = OperationQueue()

    @Test(arguments: HTTPTestServer.Configuration.TransportProtocol.allCases)
    func `metrics state whether a connection was reused, and the time to connect`(
        version: HTTPTestServer.Configuration.TransportProtocol
    ) async throws {
        try await withServer({ _ in .text("x") }, .init(protocol: version)) { server in
            let session = try HTTPSession.trusting(server) { $0.setClock(ContinuousClock()) }
            for number in 0..<3 {
                var request = get(server.url + "/")
                request.limits.idleTimeout = nil
                let operation = HTTPDataOperation(request, session: session)
                #expect(operation.metrics.isConnectionReused == nil && operation.metrics.connect == nil)
                queue.addOperation(operation)
                _ = try await operation.value
                let connect = try #require(operation.metrics.connect)
                #expect(operation.metrics.isConnectionReused == (number > 0))
                #expect(number == 0 ? connect > .zero : connect == .zero)
                #expect(try #require(operation.metrics.firstByte) >= connect)
                // The probe's note is visible neither to the server nor to the caller.
                #expect(
                    operation.response?.headerFields.contains { $0.name.rawName.contains("connection-use") } == false)
            }
            #expect(!server.requests.contains { $0.fields.contains { $0.name.rawName.contains("connection-use") } })
            #expect(server.connectionsEver == 1)
        }
    }

    @Test func `no server can fake the use of its connection`() {
        var headers = HTTPHeaders([("a", "b"), ("connection-use", "3 4")])
        #expect(ConnectionUse(notedIn: headers) == nil && ConnectionUse(notedIn: [:]) == nil)
        let use = ConnectionUse(earlier: 3, established: .milliseconds(4))
        use.note(in: &headers)
        #expect(ConnectionUse(notedIn: headers) == use)
    }

    @Test func `the end of a stream does not count as a closed connection`() async throws {
        try await withServer(
            { $0.path == "/" ? .text("x") : .text("x").with(.resets(.beforeHead)) }, .init(protocol: .http2)
        ) { server in
            let session = try HTTPSession.trusting(server)
            for (path, expected) in [("/", nil), ("/reset", "connection"), ("/", nil)] as [(String, String?)] {
                let operation = HTTPDataOperation(get(server.url + path), session: session)
                queue.addOperation(operation)
                #expect(await reason { try await operation.value }?.text == expected)
            }
            #expect(server.requests.count == 3)
            #expect(server.connectionsEver == 1)
        }
    }

    /// Returns a handler that closes the connection on the first request for `/closed`.
    private static func handler() -> HTTPTestServer.Handler {
        let asked = Locked(false)
        return { request in
            guard request.path == "/closed" else { return .text("x") }
            let isFirst = asked.withLock { asked in
                defer { asked = true }
                return !asked
            }
            return isFirst ? .text("x").with(.resetsConnection(.beforeHead)) : .text("again")
        }
    }

    @Test(arguments: HTTPTestServer.Configuration.TransportProtocol.allCases)
    func `a safe request on a closing connection is sent again on another connection`(
        version: HTTPTestServer.Configuration.TransportProtocol
    ) async throws {
        try await withServer(Self.handler(), .init(protocol: version)) { server in
            let session = try HTTPSession.trusting(server)
            for (path, expected, requests) in [("/", "x", 1), ("/closed", "again", 3)] {
                let operation = HTTPDataOperation(get(server.url + path), as: .text, session: session)
                queue.addOperation(operation)
                #expect(try await operation.value == expected)
                #expect(server.requests.count == requests)
            }
            #expect(server.connectionsEver == 2)
        }
    }

    @Test(arguments: HTTPTestServer.Configuration.TransportProtocol.allCases)
    func `an unsafe request on a closed connection fails, and so does a request on a closed new connection`(
        version: HTTPTestServer.Configuration.TransportProtocol
    ) async throws {
        for (first, second) in [("/", HTTPRequest.Method.post), (nil, .get)] as [(String?, HTTPRequest.Method)] {
            try await withServer(Self.handler(), .init(protocol: version)) { server in
                let session = try HTTPSession.trusting(server)
                if let first {
                    let operation = HTTPDataOperation(get(server.url + first), session: session)
                    queue.addOperation(operation)
                    _ = try await operation.value
                }
                let before = server.requests.count
                let operation = HTTPDataOperation(
                    HTTPRequestDescription(second, server.url + "/closed"), session: session)
                queue.addOperation(operation)
                #expect(await reason { try await operation.value }?.text == "connection")
                #expect(server.requests.count == before + 1)
            }
        }
    }

    @Test func `a request that is lost by a GOAWAY is sent again on another connection`() async throws {
        let (first, held) = (LoopbackGate(), LoopbackGate())
        try await withServer(
            { request in
                switch request.path {
                case "/first":
                    try? await first.pass()
                    return .text("first").with(.goesAway)
                case "/next" where request.connection == 1:
                    try? await held.pass()
                    return .text("late")
                default: return .text("again")
                }
            }, .init(protocol: .http2)
        ) { server in
            let session = try HTTPSession.trusting(server)
            func load(_ path: String) -> HTTPDataOperation<String> {
                let operation = HTTPDataOperation(get(server.url + path), as: .text, session: session)
                queue.addOperation(operation)
                return operation
            }
            _ = try await load("/").value
            let early = load("/first")
            await first.reached()
            let next = (0..<3).map { _ in load("/next") }
            await held.reached(3)
            first.open()
            for operation in next { #expect(try await operation.value == "again") }
            #expect(try await early.value == "first")
            #expect(server.connectionsEver == 2)
            held.open()
        }
    }

    @Test(arguments: ["099", "000"])
    func `a status below 100 is an error, although the parser accepts it`(status: String) async throws {
        let port = try LoopbackSocket.answering("HTTP/1.1 \(status) Odd\r\nContent-Length: 0\r\n\r\n")
        let operation = HTTPDataOperation(get("http://127.0.0.1:\(port)/"), session: .plain())
        queue.addOperation(operation)
        let why = await reason { try await operation.value }
        #expect(why?.text == "connection")
    }
}
