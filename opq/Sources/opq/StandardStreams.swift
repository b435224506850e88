import ArgumentParser
import Glibc

/// A text stream that writes to standard error.
struct StandardError: TextOutputStream {
    mutating func write(_ string: String) {
        var string = string
        string.withUTF8 { _ = writeAll(UnsafeRawBufferPointer($0), to: STDERR_FILENO) }
    }
}

/// Standard error, for `print(_:to:)`.
nonisolated(unsafe) var standardError = StandardError()

/// Prints a line on standard output.
///
/// - Throws: `ExitCode.failure` after printing the reason on standard error, if standard output accepts no data.
func printLine(_ line: String) throws {
    var line = line + "\n"
    guard !line.withUTF8({ writeAll(UnsafeRawBufferPointer($0), to: STDOUT_FILENO) }) else { return }
    print("opq: cannot write to standard output: \(String(cString: strerror(errno)))", to: &standardError)
    throw ExitCode.failure
}

/// Writes all of `bytes` to a descriptor.
///
/// - Returns: Whether all bytes were written. If not, `errno` contains the reason, for example a closed pipe or a full
///   disk.
func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count < 0, errno == EAGAIN {
            // Another process that shares the open file has set `O_NONBLOCK`.
            var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            poll(&ready, 1, -1)
        } else if count < 0, errno != EINTR {
            return false
        }
        rest = rest.dropFirst(max(count, 0))
    }
    return true
}
