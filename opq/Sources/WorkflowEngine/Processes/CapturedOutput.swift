import Glibc
import Synchronization

/// A receiver of the bytes that a command writes.
protocol OutputSink: Sendable {
    /// Adds bytes. Only one thread adds, and none after the end of the command.
    func append(_ bytes: UnsafeRawBufferPointer)
}

/// The standard output of one run of a command, which becomes the value of a variable.
final class CapturedOutput: OutputSink {
    /// The largest number of bytes.
    static let limit = 64 * 1024

    private let bytes = Mutex<[UInt8]>([])
    private let next: OutputSpool?

    /// Creates an empty output.
    ///
    /// - Parameter next: The spool that gets the same bytes. `nil` if the output is a secret.
    init(alsoInto next: OutputSpool?) { self.next = next }

    func append(_ new: UnsafeRawBufferPointer) {
        bytes.withLock { bytes in
            // One byte beyond the limit shows that there was more.
            bytes += new.prefix(Self.limit + 1 - bytes.count)
        }
        next?.append(new)
    }

    /// The output without the line feeds at its end, as in a command substitution of a shell.
    ///
    /// - Throws: ``CaptureFailure`` if no variable can hold the output.
    func value(for variable: String) throws(CaptureFailure) -> String {
        var bytes = bytes.withLock(\.self)
        if bytes.count > Self.limit {
            throw CaptureFailure(text: "the standard output has more than 64 KiB, which '\(variable)' cannot hold")
        }
        while bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.contains(0) {
            throw CaptureFailure(text: "the standard output has a NUL character, which '\(variable)' cannot hold")
        }
        return String(fileName: bytes)
    }
}

/// The reason why a variable has no value.
struct CaptureFailure: Error, Equatable {
    let text: String
}
