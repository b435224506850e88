#if Networking
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import SystemPackage

extension SystemFile {
    /// Opens a file for one writer at a time; nil if another one, of this process or another, has it.
    static func openExclusively(_ path: FilePath) throws -> SystemFile? {
        while true {
            let file = try open(
                path, .readWrite, options: [.create, .closeOnExec, .noFollow],
                permissions: [.ownerReadWrite, .groupRead, .otherRead])
            do {
                guard try file.lockExclusively() else {
                    try file.close()
                    return nil
                }
                // Who had it may have renamed it between the opening and the locking: then it is the finished target.
                if try file.isStill(at: path) { return file }
            } catch {
                try? file.unlockAndClose()
                throw error
            }
            try file.unlockAndClose()
        }
    }

    /// Closing alone leaves it locked while a child that was forked meanwhile has not yet begun its own program.
    func unlockAndClose() throws {
        flock(rawValue, LOCK_UN)
        try close()
    }

    private func lockExclusively() throws -> Bool {
        while flock(rawValue, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return false }
            if errno != EINTR { throw Errno(rawValue: errno) }
        }
        return true
    }

    /// Whether the path is a name of this file.
    func isStill(at path: FilePath) throws -> Bool {
        let own = try stat()
        guard let there = try? path.stat() else { return false }
        return own.inode == there.inode && own.deviceID == there.deviceID
    }
}

/// NIO has a protocol of that name.
typealias SystemFile = SystemPackage.FileDescriptor

/// Gives a file another name, in whose place nothing half-written is ever to be seen.
func rename(_ old: FilePath, to new: FilePath) throws {
    let status = old.withPlatformString { old in new.withPlatformString { rename(old, $0) } }
    if status != 0 { throw Errno(rawValue: errno) }
}
#endif
