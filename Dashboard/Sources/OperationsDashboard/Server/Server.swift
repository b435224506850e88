import DashboardCore
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The thread that serves pages. All its calls of the system return at once, except `poll`.
///
/// Its memory is bounded: 128 connections, each with a request of at most 80 KB and one response or one frame. A page that does not
/// read its frame gets no further one before.
final class Server: @unchecked Sendable {
    // Sendable: the variables belong to the thread, and the mail is locked.
    private enum Mail: Sendable {
        case response(HTTPResponse, Int)
        case frame([UInt8], cost: Double)
        case stop
    }

    private let listener: Listener
    private let responder: Responder
    private let wake = SocketCalls.pipe()
    private let mail = Mutex<[Mail]>([])
    private var connections: [Connection] = []
    private var lastNumber = 0
    private var isOpen = false
    private var makesFrame = false
    private var nextFrame = 0.0
    /// The time at which the recordings end, because no page has been open since a while. A page that loads again finds them.
    private var closing: Double?
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 * 1024, alignment: 1)
    private static let grace = 5.0
    /// The time at which the thread ends. Until then, pages send their last requests and close their streams.
    private var ending: Double?
    private static let farewell = 0.5

    init(_ listener: Listener, _ responder: Responder) { (self.listener, self.responder) = (listener, responder) }

    deinit {
        buffer.deallocate()
        SocketCalls.end(wake.read)
        SocketCalls.end(wake.write)
    }

    /// Starts the thread. `onEnd` is called on it after ``stop()``, when the port is free again.
    func start(onEnd: @escaping @Sendable () -> Void) {
        startThread { [self] in
            loop()
            onEnd()
        }
    }

    /// Ends the thread. Safe to call from any thread, also before `start`.
    func stop() { post(.stop) }

    private func post(_ item: Mail) {
        mail.withLock { $0.append(item) }
        SocketCalls.wake(wake.write)
    }

    private func loop() {
        while true {
            readMail()
            let now = PageClock.now
            if let ending, now >= ending || !connections.contains(where: \.isStream) { break }
            connections.removeAll { connection in
                guard ConnectionLimits.isOver(connection.moment(now: now)) else { return false }
                SocketCalls.end(connection.descriptor)
                return true
            }
            follow(now)
            wait(now)
        }
        connections.forEach { SocketCalls.end($0.descriptor) }
        SocketCalls.end(listener.descriptor)
        if isOpen { responder.pagesClosed() }
    }

    /// Opens and closes the recordings, and orders the next frame.
    private func follow(_ now: Double) {
        if ending != nil { return }
        let hasStream = connections.contains { $0.isStream }
        if hasStream {
            closing = nil
            if !isOpen {
                isOpen = true
                responder.pagesOpened()
            }
            if !makesFrame, now >= nextFrame {
                makesFrame = true
                responder.overview { [weak self] overview in
                    self?.post(.frame(EventFrames.frame("state", overview), cost: PageClock.now - now))
                }
            }
        } else if isOpen {
            let end = closing ?? now + Self.grace
            closing = end
            if now >= end {
                (isOpen, closing) = (false, nil)
                responder.pagesClosed()
            }
        }
    }

    private func readMail() {
        let items = mail.withLock { items in
            defer { items = [] }
            return items
        }
        for item in items {
            switch item {
            case .stop:
                sayGoodbye()
                ending = PageClock.now + Self.farewell
            case .response(let response, let number): answer(number, response)
            case .frame(let frame, let cost):
                makesFrame = false
                nextFrame = PageClock.now + SurveyPace.pause(afterCost: cost)
                for index in connections.indices where connections[index].isStream && !connections[index].hasOutput {
                    connections[index].setOutput(frame)
                    connections[index].active = PageClock.now
                }
            }
        }
    }

    /// Sends the last state, so that a page that stays open shows the end. A source that answers later, such as a store, is left out,
    /// and so is a page that has not read its last frame.
    private func sayGoodbye() {
        let last = Mutex<JSON?>(nil)
        if connections.contains(where: \.isStream) {
            responder.overview { overview in last.withLock { $0 = overview } }
        }
        let state = last.withLock { $0.map { EventFrames.frame("state", $0) } } ?? []
        let frame = state + EventFrames.frame("end", .null)
        for index in connections.indices where connections[index].isStream && !connections[index].hasOutput {
            connections[index].setOutput(frame)
            _ = connections[index].transmit(now: PageClock.now)
        }
    }

    private func answer(_ number: Int, _ response: HTTPResponse) {
        guard let index = connections.firstIndex(where: { $0.number == number }) else { return }
        connections[index].awaitsResponse = false
        connections[index].isPermitted = response.status != .forbidden && response.status != .misdirected
        connections[index].active = PageClock.now
        connections[index].isStream = response.isStream
        connections[index].setOutput(response.bytes(keepsAlive: connections[index].keepsAlive))
        // The page that has just connected gets its first frame at once.
        if response.isStream { nextFrame = 0 }
    }

    private func wait(_ now: Double) {
        var polls = [pollfd(fd: wake.read, events: Int16(POLLIN), revents: 0)]
        polls.append(pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0))
        for connection in connections {
            let mask = connection.hasOutput ? POLLOUT : connection.awaitsResponse ? 0 : POLLIN
            polls.append(pollfd(fd: connection.descriptor, events: Int16(mask), revents: 0))
        }
        var pause = 1.0
        if isOpen, !makesFrame { pause = max(0, min(pause, (closing ?? nextFrame) - now)) }
        if let ending { pause = max(0, min(pause, ending - now)) }
        let timeout = connections.isEmpty && !isOpen ? -1 : Int32((pause * 1000).rounded(.up))
        guard poll(&polls, nfds_t(polls.count), timeout) > 0 else { return }
        if polls[0].revents != 0 { SocketCalls.drain(wake.read) }
        // From the end, because a connection may be removed.
        for index in connections.indices.reversed() where polls[index + 2].revents != 0 {
            if !serve(&connections[index]) {
                SocketCalls.end(connections[index].descriptor)
                connections.remove(at: index)
            }
        }
        if polls[1].revents != 0 { accept() }
    }

    private func accept() {
        while let descriptor = SocketCalls.accept(listener.descriptor) {
            let now = PageClock.now
            if connections.count >= ConnectionLimits.connections {
                guard let victim = ConnectionLimits.victim(connections.map { $0.moment(now: now) }) else {
                    SocketCalls.end(descriptor)
                    continue
                }
                SocketCalls.end(connections[victim].descriptor)
                connections.remove(at: victim)
            }
            lastNumber += 1
            connections.append(Connection(descriptor, number: lastNumber, now: now))
        }
    }

    /// Sends, receives, and begins a response. Returns whether the connection stays open.
    private func serve(_ connection: inout Connection) -> Bool {
        let now = PageClock.now
        if connection.hasOutput {
            guard connection.transmit(now: now) else { return false }
            guard !connection.hasOutput, !connection.isStream else { return true }
            if !connection.keepsAlive {
                connection.discards = true
                SocketCalls.endSending(connection.descriptor)
                return true
            }
            // The next request may have arrived together with the last one.
            return begin(&connection)
        }
        switch SocketCalls.receive(connection.descriptor, into: buffer) {
        case .over: return false
        case .wouldBlock: return !connection.awaitsResponse
        case .count(let count):
            guard connection.readsRequests else { return true }
            connection.parser.add(buffer[..<count])
            return begin(&connection)
        }
    }

    private func begin(_ connection: inout Connection) -> Bool {
        switch connection.parser.next() {
        case .needsMore: return true
        case .reject(let status):
            connection.keepsAlive = false
            connection.setOutput(HTTPResponse.message(status, status.reason + ".").bytes(keepsAlive: false))
        case .request(let request):
            connection.active = PageClock.now
            connection.keepsAlive = request.keepsAlive
            connection.awaitsResponse = true
            let number = connection.number
            responder.respond(to: request) { [weak self] response in self?.post(.response(response, number)) }
        }
        return true
    }
}
