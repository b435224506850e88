import Foundation

/// The identity of a file, which all names of the file share.
struct FileIdentity: Equatable {
    private let device: UInt64
    private let number: UInt64

    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        (device, number) = (UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino))
    }
}

/// A lock that prevents processes from opening or renaming the index at the same time. The initializer waits at most
/// two seconds and then continues without the lock, so that the cache still opens.
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

    /// Releases the lock. Closing the descriptor is not enough: a forked child keeps the lock until it executes its
    /// program.
    func unlock() {
        guard descriptor >= 0 else { return }
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
