import Foundation
import Glibc

/// A file that is written when the run has ended. Until then it keeps what it holds.
struct Recording {
    /// Why a file cannot be written.
    struct Failure: Error {
        let text: String
    }

    /// The path, as the user gave it.
    let path: String
    private let descriptor: Int32
    private let identity: FileIdentity?
    private let isNew: Bool

    /// Opens the file before anything runs: a mistake in a path is not to be found out an hour later.
    ///
    /// - Parameters:
    ///   - workflow: The path of the workflow file.
    ///   - others: The files that are written as well.
    /// - Throws: `Failure` if the file cannot be written, or is one of these.
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

    /// Writes the contents in place of what the file holds.
    func write(_ contents: Data) throws(Failure) {
        let isWritten = ftruncate(descriptor, 0) == 0 || identity == nil
        guard isWritten, contents.withUnsafeBytes({ writeAll($0, to: descriptor) }), close(descriptor) == 0 else {
            throw Failure(text: "cannot write \(path): \(String(cString: strerror(errno)))")
        }
    }

    /// Leaves everything as it was before the file was opened.
    func abandon() {
        close(descriptor)
        if isNew { unlink(path) }
    }
}

/// What tells a file from all others, whatever its paths; only of files that keep what is written to them.
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
