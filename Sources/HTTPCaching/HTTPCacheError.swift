#if Networking
import Foundation

/// What the cache could not do. Requests go on without it.
public enum HTTPCacheError: Error, Sendable, CustomStringConvertible {
    /// The directory cannot be made, or is something else; `code` is an errno.
    case unusableDirectory(path: String, code: Int32)
    /// The directory, a part of it, or the index belongs to another user. That user could put answers in it.
    case foreignOwner(path: String)
    /// The index was damaged. It was renamed to `setAside`, and a new one begun.
    case damagedIndex(setAside: String)
    /// The index cannot be opened, read or written.
    case index(path: String, any Error)
    /// A body was not what had been stored, and is gone.
    case damagedBody(path: String)
    case noSpace(path: String)
    /// A file cannot be made, written, renamed or removed; `code` is an errno.
    case cannotWrite(path: String, code: Int32)
    /// A file cannot be opened or read; `code` is an errno.
    case cannotRead(path: String, code: Int32)

    public var description: String {
        switch self {
        case .unusableDirectory(let path, let code):
            "\(path) cannot hold the cache: \(reason(code)). Give a directory that this process may make or write to."
        case .foreignOwner(let path):
            "\(path) belongs to another user, and is not used. Give a directory that belongs to this process's user."
        case .damagedIndex(let setAside):
            "The cache's index was damaged. It is kept as \(setAside), which may be deleted; a new one has been begun."
        case .index(let path, let error):
            "The cache's index \(path) cannot be used: \(error). Responses are loaded and not kept."
        case .damagedBody(let path):
            "\(path) was not what had been stored; it is removed, and will be loaded again."
        case .noSpace(let path):
            "There is no space left for \(path). Free some, or lower the cache's diskLimit."
        case .cannotWrite(let path, let code):
            "\(path) cannot be written: \(reason(code)). Check who owns the cache's directory, and its mode."
        case .cannotRead(let path, let code):
            "\(path) cannot be read: \(reason(code)). Check who owns the cache's directory, and its mode."
        }
    }

    private func reason(_ code: Int32) -> String { String(cString: strerror(code)) }

    /// What failing to write to a path with this errno means.
    static func writing(_ path: String, _ code: Int32 = errno) -> HTTPCacheError {
        code == ENOSPC || code == EDQUOT ? .noSpace(path: path) : .cannotWrite(path: path, code: code)
    }
}
#endif
