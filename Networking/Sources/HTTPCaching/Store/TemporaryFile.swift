import Foundation

/// A file that is being written. The file is removed when the object is deallocated, unless the file got its final
/// name.
///
/// The writing process locks the file with `flock`, so that a sweep can distinguish the file from the remains of a
/// crash.
final class TemporaryFile: @unchecked Sendable {
    // `@unchecked Sendable` is safe because only `rename` changes `isGone`, and the writer calls `rename` last.
    let path: String
    private let descriptor: Int32
    private var isGone = false

    init(in directory: String) throws(HTTPCacheError) {
        path = "\(directory)/\(UUID().uuidString)"
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .writing(path) }
        _ = flock(descriptor, LOCK_EX | LOCK_NB)
    }

    deinit {
        // Without the explicit unlock a forked child keeps the lock until it executes its program.
        flock(descriptor, LOCK_UN)
        close(descriptor)
        if !isGone { unlink(path) }
    }

    func write(_ bytes: Data) throws(HTTPCacheError) {
        let code: Int32 = bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return count < 0 ? errno : ENOSPC }
                rest = rest.dropFirst(count)
            }
            return 0
        }
        guard code == 0 else { throw .writing(path, code) }
    }

    /// Flushes the file to disk, so that a power failure cannot leave a name without content.
    func synchronise() throws(HTTPCacheError) {
        guard fsync(descriptor) == 0 else { throw .writing(path) }
    }

    func rename(to name: String) throws(HTTPCacheError) {
        guard Foundation.rename(path, name) == 0 else { throw .writing(name) }
        isGone = true
    }
}
