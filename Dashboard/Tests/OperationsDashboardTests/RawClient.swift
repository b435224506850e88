#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A client that sends any bytes. It blocks its thread, at most ten seconds a call.
final class RawClient: @unchecked Sendable {
    // Sendable: a constant.
    private let descriptor: Int32

    init(port: Int, receiveBuffer: Int32? = nil) {
        #if canImport(Glibc)
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        precondition(result == 0, "no connection")
    }

    deinit { close(descriptor) }

    /// Sends all bytes, or as many as the server accepts.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            #if canImport(Darwin)
            let count = rest.withUnsafeBytes { Darwin.send(descriptor, $0.baseAddress, $0.count, 0) }
            #elseif canImport(Musl)
            let count = rest.withUnsafeBytes { Musl.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            #else
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            #endif
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Receives some bytes; nil at the end.
    func receive() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count > 0 ? Array(bytes[..<count]) : nil
    }

    /// Receives until the text has appeared; returns all that has arrived.
    func receive(until mark: String) -> String {
        var text = ""
        while !text.contains(mark), let bytes = receive() { text += String(decoding: bytes, as: UTF8.self) }
        return text
    }

    /// Receives one response with a length.
    func response() -> (status: Int, head: String, body: String)? {
        var bytes: [UInt8] = []
        while true {
            let text = String(decoding: bytes, as: UTF8.self)
            if let range = text.firstRange(of: "\r\n\r\n") {
                let head = String(text[..<range.lowerBound])
                let mark = "Content-Length: "
                let line = head.split(separator: "\r\n").first { $0.hasPrefix(mark) }
                let length = line.flatMap { Int($0.dropFirst(mark.count)) } ?? 0
                if bytes.count >= head.utf8.count + 4 + length {
                    let body = String(decoding: bytes.dropFirst(head.utf8.count + 4), as: UTF8.self)
                    return (Int(head.split(separator: " ")[1]) ?? 0, head, body)
                }
            }
            guard let more = receive() else { return nil }
            bytes += more
        }
    }
}
