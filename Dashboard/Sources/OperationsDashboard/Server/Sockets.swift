#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

#if canImport(Glibc)
private let streamType = Int32(SOCK_STREAM.rawValue)
#else
private let streamType = SOCK_STREAM
#endif
#if canImport(Darwin)
private let sendFlags: Int32 = 0
#else
private let sendFlags = Int32(MSG_NOSIGNAL)
#endif

/// A socket that listens on 127.0.0.1.
struct Listener: Sendable {
    let descriptor: Int32
    let port: Int

    init(port: Int) throws(DashboardError) {
        guard (0...65535).contains(port) else {
            throw .portUnavailable(port, reason: "a port is a number from 0 to 65535")
        }
        func failure(_ descriptor: Int32) -> DashboardError {
            let reason = String(cString: strerror(errno))
            if descriptor >= 0 { _ = close(descriptor) }
            return .portUnavailable(port, reason: reason)
        }
        let descriptor = socket(AF_INET, streamType, 0)
        guard descriptor >= 0 else { throw failure(-1) }
        SocketCalls.prepare(descriptor)
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0 && listen(descriptor, 64) == 0
                    && getsockname(descriptor, pointer, &length) == 0
            }
        }
        guard isBound else { throw failure(descriptor) }
        (self.descriptor, self.port) = (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }
}

/// Calls of the system that never block.
enum SocketCalls {
    enum Outcome { case count(Int), wouldBlock, over }

    /// Makes a descriptor private to this process, and its calls non-blocking.
    static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        #if canImport(Darwin)
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    /// Returns a new connection; nil if there is none, or no descriptor for it.
    static func accept(_ listener: Int32) -> Int32? {
        #if canImport(Glibc)
        let descriptor = Glibc.accept(listener, nil, nil)
        #elseif canImport(Musl)
        let descriptor = Musl.accept(listener, nil, nil)
        #else
        let descriptor = Darwin.accept(listener, nil, nil)
        #endif
        guard descriptor >= 0 else { return nil }
        prepare(descriptor)
        return descriptor
    }

    static func receive(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
        outcome(recv(descriptor, buffer.baseAddress, buffer.count, 0), zeroIsOver: true)
    }

    static func transmit(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Outcome {
        bytes.withUnsafeBytes { outcome(send(descriptor, $0.baseAddress, $0.count, sendFlags), zeroIsOver: false) }
    }

    private static func outcome(_ count: Int, zeroIsOver: Bool) -> Outcome {
        if count > 0 || count == 0 && !zeroIsOver { return .count(count) }
        if count == 0 { return .over }
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? .wouldBlock : .over
    }

    static func pipe() -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        #if canImport(Glibc)
        _ = Glibc.pipe(&ends)
        #elseif canImport(Musl)
        _ = Musl.pipe(&ends)
        #else
        _ = Darwin.pipe(&ends)
        #endif
        ends.forEach(prepare)
        return (ends[0], ends[1])
    }

    static func endSending(_ descriptor: Int32) { _ = shutdown(descriptor, Int32(SHUT_WR)) }
    static func end(_ descriptor: Int32) { _ = close(descriptor) }
    static func wake(_ descriptor: Int32) { _ = write(descriptor, [1], 1) }

    /// Removes the wake-ups of a pipe.
    static func drain(_ descriptor: Int32) {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(descriptor, &bytes, bytes.count) > 0 {}
    }
}

/// Starts a thread of the system.
func startThread(_ body: @escaping @Sendable () -> Void) {
    let box = Unmanaged.passRetained(ThreadBody(body)).toOpaque()
    #if canImport(Darwin)
    var thread: pthread_t?
    #else
    var thread = pthread_t()
    #endif
    let error = pthread_create(
        &thread, nil,
        { argument in
            #if canImport(Darwin)
            Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().body()
            #else
            Unmanaged<ThreadBody>.fromOpaque(argument!).takeRetainedValue().body()
            #endif
            return nil
        }, box)
    guard error == 0 else { return Unmanaged<ThreadBody>.fromOpaque(box).takeRetainedValue().body() }
    #if canImport(Darwin)
    if let thread { pthread_detach(thread) }
    #else
    pthread_detach(thread)
    #endif
}

private final class ThreadBody: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

func printToStandardError(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(2, bytes, bytes.count)
}
