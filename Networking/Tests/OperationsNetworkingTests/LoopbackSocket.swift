#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import Foundation

/// Plain sockets of the loopback interface. The caller closes them.
enum LoopbackSocket {
    /// Returns a socket that is bound to a free port and does not listen.
    static func bound() throws -> (descriptor: Int32, port: Int) {
        let descriptor = try make()
        var address = address(0)
        guard withAddress(&address, { bind(descriptor, $0, $1) }) == 0 else {
            close(descriptor)
            throw POSIXError(.EADDRINUSE)
        }
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }

    /// Answers one connection to the returned port with `text`, however invalid, and closes the connection.
    static func answering(_ text: String) throws -> Int {
        let (listener, port) = try bound()
        listen(listener, 1)
        Thread.detachNewThread {
            let connection = accept(listener, nil, nil)
            close(listener)
            var bytes = [UInt8](repeating: 0, count: 4096)
            recv(connection, &bytes, bytes.count, 0)
            let answer = Array(text.utf8)
            send(connection, answer, answer.count, 0)
            shutdown(connection, Int32(SHUT_WR))
            while recv(connection, &bytes, bytes.count, 0) > 0 {}
            close(connection)
        }
        return port
    }

    static func connected(to port: Int) throws -> Int32 {
        let descriptor = try make()
        var address = address(port)
        guard withAddress(&address, { connect(descriptor, $0, $1) }) == 0 else {
            close(descriptor)
            throw POSIXError(.ECONNREFUSED)
        }
        return descriptor
    }

    private static func make() throws -> Int32 {
        #if canImport(Glibc)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw POSIXError(.EMFILE) }
        return descriptor
    }

    private static func address(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func withAddress(
        _ address: inout sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
