import DurableCore
import Foundation

/// A file that is written under a path of its own, and appears under its path when it is complete.
struct CopyFile: Sendable {
    let path: String

    /// Creates an empty file.
    ///
    /// - Parameters:
    ///   - target: The later path.
    ///   - source: The path of the file whose permissions the copy has.
    init(besides target: String, as source: String) throws(DurableError) {
        path = "\(target)-\(UUID().uuidString).partial"
        let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Self.error(path) }
        defer { close(file) }
        var status = stat()
        // The permissions of `open` depend on the mask of the process.
        guard stat(source, &status) == 0, fchmod(file, status.st_mode & 0o777) == 0 else {
            let error = Self.error(source)
            unlink(path)
            throw error
        }
    }

    /// Makes the content durable, and gives the file its path. Replaces no file.
    func publish(as target: String) throws(DurableError) {
        // SQLite leaves the content to the cache of the system.
        try Self.synchronize(path)
        // `rename` would replace a file that another process has written meanwhile.
        guard link(path, target) == 0 else {
            if errno == EEXIST { throw .invalidValue("a file has the path '\(target)'") }
            throw Self.error(target)
        }
        try Self.synchronize(URL(fileURLWithPath: target).deletingLastPathComponent().path)
    }

    func remove() { unlink(path) }

    private static func synchronize(_ path: String) throws(DurableError) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw error(path) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw error(path) }
    }

    private static func error(_ path: String) -> DurableError {
        .unavailable("\(path): \(String(cString: strerror(errno)))")
    }
}
