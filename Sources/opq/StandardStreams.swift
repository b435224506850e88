import Glibc

/// Takes what is printed on standard error.
struct StandardError: TextOutputStream {
    mutating func write(_ string: String) {
        var string = string
        string.withUTF8 { _ = writeAll(UnsafeRawBufferPointer($0), to: STDERR_FILENO) }
    }
}

/// Standard error, for `print(_:to:)`.
nonisolated(unsafe) var standardError = StandardError()

/// Writes all of `bytes`.
///
/// - Returns: Whether that was possible; it is not when the reader has gone.
func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count < 0, errno != EINTR { return false }
        rest = rest.dropFirst(max(count, 0))
    }
    return true
}
