#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import Glibc

/// A file that is written when the run has ended. Until then, the file keeps its old contents.
struct Recording {
    /// The reason why a file cannot be written.
    struct Failure: Error {
        let text: String
    }

    /// The path as given by the user.
    let path: String
    private let descriptor: Int32
    private let identity: FileIdentity?
    private let isNew: Bool

    /// Opens the file before the run, so that a wrong path is reported before the commands start.
    ///
    /// - Parameters:
    ///   - workflow: The path of the workflow file.
    ///   - others: The other files that are written after the run.
    /// - Throws: `Failure` if the file cannot be written, or is the workflow file or one of `others`.
    init(path: String, workflow: String, others: [Recording]) throws(Failure) {
        var isNew = true
        var descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        if descriptor < 0 {
            isNew = false
            descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
        }
        guard descriptor >= 0 else { throw Failure(text: "cannot write \(path): \(String(cString: strerror(errno)))") }
        self.path = path
        self.isNew = isNew
        self.descriptor = descriptor
        identity = FileIdentity(descriptor: descriptor)
        guard let identity else { return }
        if identity == FileIdentity(path: workflow) {
            close(descriptor)
            throw Failure(text: "cannot write \(path): it is the workflow file")
        }
        if let other = others.first(where: { $0.identity == identity }) {
            close(descriptor)
            throw Failure(text: "cannot write \(path): it is the file of another option, \(other.path)")
        }
    }

    /// Replaces the contents of the file, and closes the file.
    func write(_ contents: Data) throws(Failure) {
        let isWritten = ftruncate(descriptor, 0) == 0 || identity == nil
        guard isWritten, contents.withUnsafeBytes({ writeAll($0, to: descriptor) }), close(descriptor) == 0 else {
            throw Failure(text: "cannot write \(path): \(String(cString: strerror(errno)))")
        }
    }

    /// Closes the file. Deletes the file if the initializer created it.
    func abandon() {
        close(descriptor)
        if isNew { unlink(path) }
    }
}

/// The identity of a regular file, independent of its paths. `nil` for other files, such as pipes.
private struct FileIdentity: Equatable {
    private let device: dev_t
    private let number: ino_t

    init?(descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        (device, number) = (status.st_dev, status.st_ino)
    }

    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        (device, number) = (status.st_dev, status.st_ino)
    }
}
