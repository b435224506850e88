#if Networking
import Foundation

/// What two names have in common that are names of one file.
struct FileIdentity: Equatable {
    private let device: UInt64
    private let number: UInt64

    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (device, number) = (UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino))
    }
}

/// Keeps processes from opening or setting aside the index at the same time. Waits for two seconds at most: opening
/// without it is better than not opening.
struct DirectoryLock {
    private let descriptor: Int32

    init(_ directory: String) {
        descriptor = open("\(directory)/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return }
        for _ in 0..<200 {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
            usleep(10_000)
        }
    }

    /// Closing alone leaves it locked while a child that was forked meanwhile has not yet begun its own program.
    func unlock() {
        guard descriptor >= 0 else { return }
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
#endif
