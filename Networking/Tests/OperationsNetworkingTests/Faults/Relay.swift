#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import Foundation
import TestSupport

/// A relay between a client and a server that forwards bytes. It causes faults that a server cannot cause, such as a stop in
/// the middle of a head or of a handshake.
final class Relay: Sendable {
    /// The fault of the first connection after a number of bytes from the server.
    enum End: Sendable { case stall, close, reset }

    private struct State {
        var open = 0
        var heldUp = 0
        var isReleased = false
        var refused = 0
        var tunnels = 0
    }

    let port: Int
    private let listener: Int32
    private let backend: Int
    private let limit: Int
    private let end: End
    private let state = Guarded(State())
    private let filler: Int32?
    private let login: String?

    /// Creates a relay.
    ///
    /// - Parameters:
    ///   - backend: The port of the server.
    ///   - limit: The number of bytes of the first connection that reach the client.
    ///   - end: The fault after these bytes.
    ///   - isFull: Whether the system accepts no connections before `release()`.
    ///   - login: The required `Proxy-Authorization`, if the relay is a proxy. All its tunnels lead to the server.
    init(
        to backend: Int, limit: Int = .max, then end: End = .stall, isFull: Bool = false, login: String? = nil
    ) throws {
        (self.backend, self.limit, self.end, self.login) = (backend, limit, end, login)
        (listener, port) = try LoopbackSocket.bound()
        guard listen(listener, isFull ? 0 : 64) == 0 else {
            close(listener)
            throw POSIXError(.EADDRINUSE)
        }
        filler = isFull ? try LoopbackSocket.connected(to: port) : nil
        if !isFull { accepting() }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        guard let filler else { return }
        close(filler)
        if !state.withLock({ $0.isReleased }) { close(listener) }
    }

    /// Ends the fault and causes no further faults. A full relay accepts connections.
    func release() {
        let isFirst = state.withLock { state in
            defer { state.isReleased = true }
            return !state.isReleased
        }
        if isFirst, filler != nil { accepting() }
    }

    /// The number of refused and accepted tunnels, if the relay is a proxy.
    var counts: (refused: Int, tunnels: Int) { state.withLock { ($0.refused, $0.tunnels) } }

    /// Suspends until the fault has stopped a connection.
    func holdsUp() async { while state.withLock({ $0.heldUp }) == 0 { await Task.yield() } }

    /// Suspends until the clients have closed all connections, except the connection that fills the relay.
    func isDeserted() async { while state.withLock({ $0.open }) > 0 { await Task.yield() } }

    /// Suspends until a client tries to connect to a full relay.
    func isKnockedAt() async {
        let port = String(port, radix: 16, uppercase: true)
        let suffix = String(repeating: "0", count: max(0, 4 - port.count)) + port
        while true {
            let table = String(decoding: Self.contents(of: "/proc/net/tcp"), as: UTF8.self)
            // The columns are local address, remote address and state. State 02 means that SYN was sent.
            for line in table.split(separator: "\n") {
                let columns = line.split(separator: " ")
                if columns.count > 3, columns[2].hasSuffix(":" + suffix), columns[3] == "02" { return }
            }
            await Task.yield()
        }
    }

    /// Reads the whole file. Foundation reads only one page of a file without a stated length.
    private static func contents(of path: String) -> [UInt8] {
        let file = open(path, O_RDONLY)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var contents: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(file, &buffer, buffer.count)
            guard count > 0 else { return contents }
            contents += buffer[..<count]
        }
    }

    // MARK: - Threads

    private func accepting() {
        let listener = listener
        _ = TestThread { [weak self] in
            var isFirst = true
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { break }
                guard let self else {
                    close(client)
                    break
                }
                if isFirst, self.filler != nil {
                    // The connection that filled the relay.
                    isFirst = false
                    close(client)
                    continue
                }
                let isHeld = isFirst && !self.state.withLock { $0.isReleased }
                isFirst = false
                self.state.withLock { $0.open += 1 }
                _ = TestThread {
                    self.serve(client, limit: isHeld ? self.limit : .max)
                    self.state.withLock { $0.open -= 1 }
                }
            }
            close(listener)
        }
    }

    private func serve(_ client: Int32, limit: Int) {
        defer { close(client) }
        guard login == nil || opensTunnel(client) else { return }
        guard let server = try? LoopbackSocket.connected(to: backend) else { return }
        defer { close(server) }
        var left = limit
        var isHeldUp = false
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            if left == 0, !isHeldUp {
                isHeldUp = true
                state.withLock { $0.heldUp += 1 }
            }
            if isHeldUp, left == 0 {
                switch end {
                case .stall: if state.withLock({ $0.isReleased }) { left = .max }
                case .close: return
                case .reset:
                    var linger = linger(l_onoff: 1, l_linger: 0)
                    setsockopt(client, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
                    return
                }
            }
            let events = Int16(POLLIN)
            var polled = [
                pollfd(fd: client, events: events, revents: 0),
                // Not polled after the limit.
                pollfd(fd: left > 0 ? server : -1, events: events, revents: 0),
            ]
            guard poll(&polled, 2, 10) >= 0 || errno == EINTR else { return }
            if polled[0].revents != 0, !Self.forward(client, server, &buffer, buffer.count, nil) { return }
            if polled[1].revents != 0 {
                var count = 0
                guard Self.forward(server, client, &buffer, min(left, buffer.count), &count) else { return }
                if left != .max { left -= count }
            }
        }
    }

    private func opensTunnel(_ client: Int32) -> Bool {
        var head: [UInt8] = []
        var byte: UInt8 = 0
        while !head.reversed().starts(with: Array("\n\r\n\r".utf8)) {
            guard recv(client, &byte, 1, 0) == 1 else { return false }
            head.append(byte)
        }
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        let isKnown = lines.contains { $0.lowercased() == "proxy-authorization: \(login ?? "")".lowercased() }
        state.withLock { if isKnown { $0.tunnels += 1 } else { $0.refused += 1 } }
        let answer =
            isKnown
            ? "HTTP/1.1 200 OK\r\n\r\n"
            : "HTTP/1.1 407 Who?\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 0\r\n\r\n"
        return send(client, answer, answer.utf8.count, Int32(MSG_NOSIGNAL)) > 0 && isKnown
    }

    /// Forwards bytes. Returns false at the end.
    private static func forward(
        _ from: Int32, _ to: Int32, _ buffer: inout [UInt8], _ most: Int, _ count: UnsafeMutablePointer<Int>?
    ) -> Bool {
        let size = recv(from, &buffer, most, 0)
        guard size > 0 else { return false }
        count?.pointee = size
        var sent = 0
        while sent < size {
            let step = buffer.withUnsafeBytes { send(to, $0.baseAddress! + sent, size - sent, Int32(MSG_NOSIGNAL)) }
            guard step > 0 else { return false }
            sent += step
        }
        return true
    }
}
