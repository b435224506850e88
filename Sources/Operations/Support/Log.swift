#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif
import Synchronization

/// The destination of warnings and stall reports: standard error, one line each, unless a handler is set.
package enum Log {
    private static let handler = Locked<(@Sendable (String) -> Void)?>(nil)

    /// Sends later messages to `handler` instead of standard error; nil restores standard error.
    package static func redirect(to newHandler: (@Sendable (String) -> Void)?) { handler.exchange(newHandler) }

    package static func warning(_ message: String) {
        if let handler = handler.withLock({ $0 }) { return handler(message) }
        let line = Array("swift-operations: \(message)\n".utf8)
        _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
