import Foundation

/// A problem of the cache. Requests continue without the cache.
public enum HTTPCacheError: Error, Sendable, CustomStringConvertible {
    /// The directory cannot be created, or is not a directory. `code` is an errno.
    case unusableDirectory(path: String, code: Int32)
    /// The directory, a file in it, or the index belongs to another user. That user could insert responses.
    case foreignOwner(path: String)
    /// The index was damaged. The cache renamed the file to `setAside` and created a new index.
    case damagedIndex(setAside: String)
    /// The index cannot be opened, read or written.
    case index(path: String, any Error)
    /// A stored body was damaged. The cache has removed the body.
    case damagedBody(path: String)
    /// The disk is full.
    case noSpace(path: String)
    /// A file cannot be created, written, renamed or removed. `code` is an errno.
    case cannotWrite(path: String, code: Int32)
    /// A file cannot be opened or read. `code` is an errno.
    case cannotRead(path: String, code: Int32)

    /// A description of the problem and its remedy, for people.
    public var description: String {
        switch self {
        case .unusableDirectory(let path, let code):
            "\(path) cannot hold the cache: \(reason(code)). Use a directory that this process can create or write to."
        case .foreignOwner(let path):
            "\(path) belongs to another user, so the cache does not use it. Use a directory of this process's user."
        case .damagedIndex(let setAside):
            "The index of the cache was damaged. It is now \(setAside), which may be deleted. The cache has a new index."
        case .index(let path, let error):
            "The index \(path) of the cache cannot be used: \(error). The cache does not store responses."
        case .damagedBody(let path):
            "\(path) was damaged. The cache has removed the body, and the next request loads it again."
        case .noSpace(let path):
            "There is no space left for \(path). Free some space, or lower the cache's diskLimit."
        case .cannotWrite(let path, let code):
            "\(path) cannot be written: \(reason(code)). Check the owner and the permissions of the cache's directory."
        case .cannotRead(let path, let code):
            "\(path) cannot be read: \(reason(code)). Check the owner and the permissions of the cache's directory."
        }
    }

    private func reason(_ code: Int32) -> String { String(cString: strerror(code)) }

    /// Returns the error for a failed write to a path, with an errno.
    static func writing(_ path: String, _ code: Int32 = errno) -> HTTPCacheError {
        code == ENOSPC || code == EDQUOT ? .noSpace(path: path) : .cannotWrite(path: path, code: code)
    }
}
