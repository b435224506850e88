#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import SystemPackage

extension SystemFile {
    /// Opens a file for one writer at a time. Returns nil if another writer, of this process or another, has the file.
    ///
    /// A file of another user is removed and created anew, because that user could change the file later.
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
                // A new file belongs to this process, though some file systems report another owner.
                let isOurs = try isNew || file.stat().userID.rawValue == geteuid()
                // An earlier writer may rename the file between opening and locking. The file is then the finished target.
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

    /// Opens or creates the file. Returns nil if the file was removed meanwhile.
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

    /// Unlocks and closes the file. Closing alone is not enough: a forked child holds the lock until it executes its program.
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

/// The file descriptor type. NIO has a protocol named `FileDescriptor`.
typealias SystemFile = SystemPackage.FileDescriptor

/// Renames a file over another one in one step, so that no reader sees an incomplete file.
func rename(_ old: FilePath, to new: FilePath) throws {
    let status = old.withPlatformString { old in new.withPlatformString { rename(old, $0) } }
    if status != 0 { throw Errno(rawValue: errno) }
}
