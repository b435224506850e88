import AsyncHTTPClient
import HTTPCore
import NIOCore
import NIOHTTP1
import Operations

/// One request that is being sent, and the received part of its response. Event loops of async-http-client fill it, and the
/// operation's task empties it. When the buffer is full, reading from the server stops.
///
/// async-http-client's own `execute` for tasks creates two tasks, an actor and a timer per request. `execute` also delivers
/// head, portions and end separately. These costs exceed the rest of a small exchange. This type delivers together all parts
/// that arrive together. Only a request with a body uses `execute`, in a task that pumps the response into this type.
final class Exchange: Sendable {
    /// The number of buffered bytes at which reading stops. The last portion may exceed this number.
    static let capacity = 128 << 10

    private struct State {
        /// The number of the turn.
        var turn: Int?
        var head: HTTPResponseHead?
        /// Whether the head may be delivered, together with all parts that arrived with it.
        var isHeadDue = false
        var waiting = CircularBuffer<ByteBuffer>()
        var waitingBytes = 0
        /// Continues reading the body when the buffer has space.
        var readOn: (@Sendable () -> Void)?
        var end: Result<Void, any Error>?
        var reader: CheckedContinuation<Void, Never>?
        /// Stops the source of the response, until the exchange ends.
        var stop: (@Sendable () -> Void)?

        var hasRoom: Bool { waitingBytes < Exchange.capacity }

        /// Whether the server speaks HTTP/2; nil before the head.
        var multiplexes: Bool? { head.map { $0.version.major > 1 } }

        /// Returns the reader if there is something to read.
        mutating func takeReader() -> CheckedContinuation<Void, Never>? { isHeadDue ? reader.take() : nil }
    }

    private let state = Locked(State())
    private let line: ConnectionLine
    let server: HTTPAddress.Origin

    init(with server: HTTPAddress.Origin, in line: ConnectionLine) {
        self.line = line
        self.server = server
    }

    // MARK: - Waiting for a connection

    /// Returns the number of the turn; nil if the exchange has to wait.
    func asksForTurn() -> Int? { line.ask(self, for: server) }

    func hasTurn(_ turn: Int) {
        let reader = state.withLock { state in
            state.turn = turn
            return state.reader.take()
        }
        reader?.resume()
    }

    /// Suspends until the exchange has its turn or is cancelled. Returns the number of the turn.
    func untilTurn() async -> Int? {
        await until { $0.turn != nil }
        return state.withLock { $0.turn }
    }

    // MARK: - Filling

    /// - Returns: Whether the buffer has space for more.
    private func received(_ bytes: ByteBuffer) -> Bool {
        let (reader, hasRoom) = state.withLock { state -> (CheckedContinuation<Void, Never>?, Bool) in
            guard state.end == nil else { return (nil, true) }
            state.waiting.append(bytes)
            state.waitingBytes += bytes.readableBytes
            return (state.takeReader(), state.hasRoom)
        }
        reader?.resume()
        return hasRoom
    }

    private func whenThereIsRoom(_ readOn: @escaping @Sendable () -> Void) {
        let isThere = state.withLock { state in
            if state.hasRoom || state.end != nil { return true }
            state.readOn = readOn
            return false
        }
        if isThere { readOn() }
    }

    private func received(_ head: HTTPResponseHead) {
        state.withLock { $0.head = head }
        if head.version.major > 1 { line.multiplexes(server) }
    }

    private func headIsDue() {
        let reader = state.withLock { state in
            state.isHeadDue = true
            return state.takeReader()
        }
        reader?.resume()
    }

    private func end(_ result: Result<Void, any Error>) {
        let (isEnd, multiplexes, reader, stop) = state.withLock { state in
            let isEnd = state.end == nil
            if isEnd { state.end = result }
            state.isHeadDue = true
            return (isEnd, state.multiplexes, state.takeReader(), state.stop.take())
        }
        if isEnd { line.leave(self, for: server, multiplexes: multiplexes) }
        reader?.resume()
        withExtendedLifetime(stop) {}
    }

    /// Sets the function by which `cancel` stops the source.
    private func begun(stop: @escaping @Sendable () -> Void) {
        let end = state.withLock { state in
            if state.end == nil { state.stop = stop }
            return state.end
        }
        if case .failure(let error) = end, error is CancellationError { stop() }
    }

    // MARK: - Emptying, by one task

    /// Returns the head of the response; nil before it arrives.
    func head() throws -> HTTPResponseHead? {
        let (head, end) = state.withLock { ($0.isHeadDue ? $0.head : nil, $0.end) }
        if head == nil, let end {
            try end.get()
            throw StaleConnection(cause: nil)
        }
        return head
    }

    /// The number of buffered bytes.
    var waitingBytes: Int { state.withLock { $0.waitingBytes } }

    enum Portion { case bytes(ByteBuffer), end, later }

    /// Returns the next portion of the body.
    func next() throws -> Portion {
        let (bytes, readOn, end) = state.withLock { state in
            let bytes = state.waiting.popFirst()
            state.waitingBytes -= bytes?.readableBytes ?? 0
            return (bytes, state.hasRoom ? state.readOn.take() : nil, state.end)
        }
        readOn?()
        if let bytes { return .bytes(bytes) }
        guard let end else { return .later }
        try end.get()
        return .end
    }

    /// Suspends until the head arrives or the exchange ends.
    func untilHead() async { await until(\.isHeadDue) }

    /// Suspends until the body continues or the exchange ends.
    func untilMore() async { await until { !$0.waiting.isEmpty } }

    private func until(_ isThere: @Sendable (State) -> Bool) async {
        await withCheckedContinuation { continuation in
            let mayContinue = state.withLock { state in
                if isThere(state) || state.end != nil { return true }
                state.reader = continuation
                return false
            }
            if mayContinue { continuation.resume() }
        }
    }

    /// Ends the exchange and discards its data.
    func cancel() {
        let (isEnd, multiplexes, reader, readOn, stop) = state.withLock { state in
            let isEnd = state.end == nil
            if isEnd {
                state.end = .failure(CancellationError())
                state.waiting = []
            }
            return (isEnd, state.multiplexes, state.reader.take(), state.readOn.take(), state.stop.take())
        }
        stop?()
        if isEnd { line.leave(self, for: server, multiplexes: multiplexes) }
        readOn?()
        reader?.resume()
    }
}

// MARK: - By event loops

extension Exchange: HTTPClientResponseDelegate {
    /// Sends a request that has no body.
    ///
    /// - Parameter loop: The event loop of the callbacks. A connection on another loop delivers each callback across threads.
    func begin(_ request: HTTPClient.Request, _ client: HTTPClient, on loop: any EventLoop) {
        let task = client.execute(request: request, delegate: self, eventLoop: .delegate(on: loop))
        begun { task.cancel() }
    }

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        received(head)
        // A small body and the end usually arrive before this closure runs.
        task.eventLoop.execute { self.headIsDue() }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ bytes: ByteBuffer) -> EventLoopFuture<Void> {
        if received(bytes) { return task.eventLoop.makeSucceededVoidFuture() }
        let room = task.eventLoop.makePromise(of: Void.self)
        whenThereIsRoom { room.succeed() }
        return room.futureResult
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) { end(.success(())) }

    func didReceiveError(task: HTTPClient.Task<Void>, _ error: any Error) { end(.failure(error)) }
}

// MARK: - By a task

extension Exchange {
    /// Sends a request with or without a body. The task may outlive the operation, so it does not run on the operation's
    /// executor.
    func begin(_ request: HTTPClientRequest, _ client: HTTPClient) {
        let pump = Task {
            do {
                let response = try await client.execute(request, deadline: .distantFuture)
                self.received(
                    HTTPResponseHead(version: response.version, status: response.status, headers: response.headers))
                self.headIsDue()
                for try await bytes in response.body where !self.received(bytes) {
                    await withCheckedContinuation { room in self.whenThereIsRoom { room.resume() } }
                }
                self.end(.success(()))
            } catch {
                self.end(.failure(error))
            }
        }
        begun { pump.cancel() }
    }
}
