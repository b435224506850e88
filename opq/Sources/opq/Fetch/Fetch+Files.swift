#if Fetch
import Foundation
import OperationsNetworking

/// An error for a folder that cannot be created.
struct FolderError: Error, CustomStringConvertible {
    let path: String
    let code: Int32

    var description: String { "cannot create the folder '\(path)': \(String(cString: strerror(code)))" }
}

extension Fetch {
    /// Creates a folder and its missing parent folders.
    static func makeFolder(_ path: String) throws(FolderError) {
        var above = path.hasPrefix("/") ? "/" : ""
        for name in path.split(separator: "/") {
            above += name + "/"
            if mkdir(above, 0o777) != 0, errno != EEXIST {
                // The folder may exist in a folder in which this user may not write.
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

    /// Copies a file to an item's name. The name never refers to an incomplete file or to a file with another digest.
    func copy(_ original: FetchList.Item, to item: FetchList.Item) throws {
        let temporary = "\(folder)/.\(UUID().uuidString).part"
        defer { unlink(temporary) }
        try FileManager.default.copyItem(atPath: path(original), toPath: temporary)
        if item.digest?.matches(fileAt: temporary) == false { throw CopyError("the digest differs from the list") }
        guard rename(temporary, path(item)) == 0 else { throw CopyError(String(cString: strerror(errno))) }
    }

    struct CopyError: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }
}
#endif
