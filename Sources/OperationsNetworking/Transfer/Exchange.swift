#if Networking
import AsyncHTTPClient
import HTTPCore
import NIOCore
import NIOHTTP1
import Operations

/// One request on its way, and what has come of its answer. The event loops of async-http-client fill it, the operation's
/// task empties it; while more waits than that takes, the server is not read from.
///
/// async-http-client's own `execute` for tasks makes two tasks, an actor and a timer for each request, and hands on head,
/// body and end one by one; that costs more than the rest of a small exchange. Here what comes at once is handed on at once.
/// Only what has a body to send goes that way, by a task that pumps the answer into here.
final class Exchange: Sendable {
    /// So many bytes wait to be taken, or a few more.
    static let capacity = 128 << 10

    private struct State {
        /// Its number.
        var turn: Int?
        var head: HTTPResponseHead?
        /// What has come together with the head is here as well.
        var isHeadDue = false
        var waiting = CircularBuffer<ByteBuffer>()
        var waitingBytes = 0
        /// Has more of the body come, when there is room for it.
        var readOn: (@Sendable () -> Void)?
        var end: Result<Void, any Error>?
        var reader: CheckedContinuation<Void, Never>?
        /// Stops what fills this, as long as it goes on.
        var stop: (@Sendable () -> Void)?

        var hasRoom: Bool { waitingBytes < Exchange.capacity }

        /// Whether the server speaks HTTP/2; nil if it has not said.
        var multiplexes: Bool? { head.map { $0.version.major > 1 } }

        /// If there is something for it.
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

    /// The number of its turn; nil: it has to wait for that.
    func asksForTurn() -> Int? { line.ask(self, for: server) }

    func hasTurn(_ turn: Int) {
        let reader = state.withLock { state in
            state.turn = turn
            return state.reader.take()
        }
        reader?.resume()
    }

    /// Suspends until it has its turn, whose number it answers, or is cancelled.
    func untilTurn() async -> Int? {
        await until { $0.turn != nil }
        return state.withLock { $0.turn }
    }

    // MARK: - Filling

    /// - Returns: Whether there is room for more.
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

    /// From now on `cancel` stops it by this.
    private func begun(stop: @escaping @Sendable () -> Void) {
        let end = state.withLock { state in
            if state.end == nil { state.stop = stop }
            return state.end
        }
        if case .failure(let error) = end, error is CancellationError { stop() }
    }

    // MARK: - Emptying, by one task

    /// The head of the answer; nil as long as it has not come.
    func head() throws -> HTTPResponseHead? {
        let (head, end) = state.withLock { ($0.isHeadDue ? $0.head : nil, $0.end) }
        if head == nil, let end {
            try end.get()
            throw StaleConnection(cause: nil)
        }
        return head
    }

    /// How much waits to be taken.
    var waitingBytes: Int { state.withLock { $0.waitingBytes } }

    enum Portion { case bytes(ByteBuffer), end, later }

    /// What of the body comes next.
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

    /// Suspends until the head is there, or will not come.
    func untilHead() async { await until(\.isHeadDue) }

    /// Suspends until there is more of the body, or no more will come.
    func untilMore() async { await until { !$0.waiting.isEmpty } }

    private func until(_ isThere: @Sendable (State) -> Bool) async {
        await withCheckedContinuation { continuation in
            let goesOn = state.withLock { state in
                if isThere(state) || state.end != nil { return true }
                state.reader = continuation
                return false
            }
            if goesOn { continuation.resume() }
        }
    }

    /// What is there is not wanted any more, nor what would come.
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
    /// - Parameter loop: Where this is called. A connection of another one tells each head, each part and each end across
    ///   threads.
    func begin(_ request: HTTPClient.Request, _ client: HTTPClient, on loop: any EventLoop) {
        let task = client.execute(request: request, delegate: self, eventLoop: .delegate(on: loop))
        begun { task.cancel() }
    }

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        received(head)
        // As a rule a small body, and the end, come before this.
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
    /// Sends any request. The task may outlive the operation, and so runs elsewhere than that.
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
#endif
