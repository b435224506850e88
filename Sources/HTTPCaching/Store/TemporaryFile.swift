#if Networking
import Foundation

/// A file that is being written, which is gone when this object is, unless it was given its name.
///
/// It is locked (`flock`) while there is a process that writes it, by which sweeping knows it from what a crash has left.
final class TemporaryFile: @unchecked Sendable {
    // Sendable: `isGone` is changed only by `rename`, which the one who writes the file calls last.
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
        // Else it stays locked while a child that was forked meanwhile has not yet begun its own program.
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

    /// To disk, so that a power failure does not leave a name without content.
    func synchronise() throws(HTTPCacheError) {
        guard fsync(descriptor) == 0 else { throw .writing(path) }
    }

    func rename(to name: String) throws(HTTPCacheError) {
        guard Foundation.rename(path, name) == 0 else { throw .writing(name) }
        isGone = true
    }
}
#endif
