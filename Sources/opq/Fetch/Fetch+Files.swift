#if Networking
import Foundation
import OperationsNetworking

/// A folder that cannot be made; with the reason in words.
struct FolderError: Error, CustomStringConvertible {
    let path: String
    let code: Int32

    var description: String { "cannot make the folder '\(path)': \(String(cString: strerror(code)))" }
}

extension Fetch {
    /// Makes a folder and those above it that are missing.
    static func makeFolder(_ path: String) throws(FolderError) {
        var above = path.hasPrefix("/") ? "/" : ""
        for name in path.split(separator: "/") {
            above += name + "/"
            if mkdir(above, 0o777) != 0, errno != EEXIST {
                // It may be there, in a folder that this user may not write to.
                let code = errno
                var status = stat()
                guard stat(above, &status) == 0 else { throw FolderError(path: path, code: code) }
            }
        }
        var status = stat()
        guard stat(above, &status) == 0 else { throw FolderError(path: path, code: errno) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw FolderError(path: path, code: ENOTDIR) }
    }

    /// The state of an item's file.
    enum Standing { case nothing, complete, anotherFile, noFile }

    func standing(_ item: FetchList.Item) -> Standing {
        var status = stat()
        guard stat(path(item), &status) == 0 else { return .nothing }
        guard status.st_mode & S_IFMT == S_IFREG else { return .noFile }
        return item.digest?.matches(fileAt: path(item)) == false ? .anotherFile : .complete
    }

    /// Copies a file to an item's name. The name never stands for half of the file, or for a file with another digest.
    func copy(_ original: FetchList.Item, to item: FetchList.Item) throws {
        let temporary = "\(folder)/.\(UUID().uuidString).part"
        defer { unlink(temporary) }
        try FileManager.default.copyItem(atPath: path(original), toPath: temporary)
        if item.digest?.matches(fileAt: temporary) == false { throw CopyError("has another digest than the list says") }
        guard rename(temporary, path(item)) == 0 else { throw CopyError(String(cString: strerror(errno))) }
    }

    struct CopyError: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }
}
#endif
