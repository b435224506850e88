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
    /// Opens a file for one writer at a time; nil if another one, of this process or another, has it. A file of another user
    /// is removed, and a new one made: the user could change the file later.
    ///
    /// - Throws: `PartIsForeign` for a file of another user that cannot be removed; `Errno`.
    static func openExclusively(_ path: FilePath) throws -> SystemFile? {
        while true {
            guard let (file, isNew) = try openOrMake(path) else { continue }
            do {
                guard try file.lockExclusively() else {
                    try file.close()
                    return nil
                }
                // A new file is ours, though some file systems name another owner.
                let isOurs = try isNew || file.stat().userID.rawValue == geteuid()
                // Who had it may have renamed it between the opening and the locking: then it is the finished target.
                if try file.isStill(at: path) {
                    if isOurs { return file }
                    let status = path.withPlatformString { unlink($0) }
                    if status != 0 { throw PartIsForeign(path: path.string) }
                }
            } catch {
                try? file.unlockAndClose()
                throw error
            }
            try file.unlockAndClose()
        }
    }

    /// The file, and whether it was made; nil if it was removed meanwhile.
    private static func openOrMake(_ path: FilePath) throws -> (SystemFile, isNew: Bool)? {
        do {
            let new = try open(
                path, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec, .noFollow],
                permissions: [.ownerReadWrite, .groupRead, .otherRead])
            return (new, true)
        } catch Errno.fileExists {}
        do {
            return (try open(path, .readWrite, options: [.closeOnExec, .noFollow]), false)
        } catch Errno.noSuchFileOrDirectory {
            return nil
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
