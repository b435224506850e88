import Glibc
import Synchronization
import SystemPackage

/// A temporary file that holds the output of an operation until the output is shown.
///
/// The command writes both its standard output and its standard error to the file, so their order is kept. The file has no
/// name in the directory for temporary files. Output takes no memory in this process, and the size of the output is limited
/// by the free space of the directory. The system deletes the file when the last process closes it.
public final class OutputSpool: Sendable {
    /// The open file to which the command writes.
    let file: FileDescriptor
    private let directory: SpoolDirectory
    private let fullCount: Int

    fileprivate init(file: FileDescriptor, in directory: SpoolDirectory) {
        self.file = file
        self.directory = directory
        fullCount = directory.fullCount
    }

    deinit {
        // Closing the file frees its space. Other commands that run now would then miss that the directory was full.
        directory.noteIfFull(file)
        try? file.close()
    }

    /// Whether the directory was full at some time since the spool was created, so that output may be lost.
    ///
    /// The command received the write error but may have ignored it. The check does not notice space that other programs used
    /// and freed in the meantime.
    var mayHaveLostOutput: Bool {
        directory.noteIfFull(file)
        return directory.fullCount != fullCount
    }

    /// Passes the output to `body` from the start, in chunks of at most 64 KiB.
    ///
    /// - Throws: `Errno` if the file cannot be read, and the errors of `body`.
    public func read(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        try read(from: 0, body)
    }

    /// Returns the last bytes of the output, at most `byteCount` bytes.
    ///
    /// - Throws: `Errno`.
    public func tail(byteCount: Int) throws -> [UInt8] {
        let size = try file.seek(offset: 0, from: .end)
        var tail: [UInt8] = []
        try read(from: max(size - Int64(byteCount), 0)) { tail += $0 }
        return tail.suffix(byteCount)
    }

    private func read(from start: Int64, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        var offset = start
        try withUnsafeTemporaryAllocation(byteCount: 64 * 1024, alignment: 16) { chunk in
            while true {
                let count = try file.read(fromAbsoluteOffset: offset, into: chunk)
                if count == 0 { return }
                offset += Int64(count)
                try body(UnsafeRawBufferPointer(rebasing: chunk[..<count]))
            }
        }
    }
}

/// The directory for temporary files, which contains the spools of a run.
final class SpoolDirectory: Sendable {
    /// The path of the directory: the value of `TMPDIR`, or `/tmp`.
    let path: String
    private let full = Atomic<Int>(0)
    private let takesNameless = Atomic(true)

    /// Creates a directory object for `path`, or for the default path if `path` is `nil`.
    init(path: String? = nil) {
        self.path = path ?? getenv("TMPDIR").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    }

    /// Opens an empty spool.
    ///
    /// - Throws: `Shortage` if a resource is short, or `StartFailure` if the file cannot be created for another reason.
    func makeSpool() throws -> OutputSpool {
        let descriptor = openNameless() ?? openNamed()
        guard descriptor >= 0 else {
            if let shortage = Shortage(errno, directory: path) { throw shortage }
            throw StartFailure(text: "cannot make a temporary file in '\(path)': \(errorText(errno))")
        }
        return OutputSpool(file: FileDescriptor(rawValue: descriptor), in: self)
    }

    /// Opens a file that never has a name. Returns `nil` if the file system does not support such files.
    ///
    /// The file is opened for appending, so each process writes after the output of the others.
    private func openNameless() -> Int32? {
        guard takesNameless.load(ordering: .relaxed) else { return nil }
        // The value of O_TMPFILE, whose macro Swift does not import because it combines two flags.
        let descriptor = open(path, 0o20_000_000 | O_DIRECTORY | O_RDWR | O_APPEND | O_CLOEXEC | O_EXCL, 0o600)
        guard descriptor < 0, errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL else { return descriptor }
        takesNameless.store(false, ordering: .relaxed)
        return nil
    }

    private func openNamed() -> Int32 {
        let name = "\(path)/opq-\(UInt64.random(in: .min ... .max))"
        let descriptor = open(name, O_CREAT | O_EXCL | O_RDWR | O_APPEND | O_CLOEXEC, 0o600)
        if descriptor >= 0 { unlink(name) }
        return descriptor
    }

    /// The number of times that the directory was found full.
    fileprivate var fullCount: Int { full.load(ordering: .relaxed) }

    /// Increments the count if the file system of `file` has no space left.
    fileprivate func noteIfFull(_ file: FileDescriptor) {
        var space = statvfs()
        // File systems without a size limit report 0 blocks.
        guard fstatvfs(file.rawValue, &space) == 0, space.f_blocks > 0 else { return }
        let free = geteuid() == 0 ? space.f_bfree : space.f_bavail
        guard UInt64(free) * UInt64(space.f_frsize) < 64 * 1024, !takesPage(file) else { return }
        full.add(1, ordering: .relaxed)
    }

    /// Whether the file can grow by one page. The file's size is unchanged afterwards.
    private func takesPage(_ file: FileDescriptor) -> Bool {
        guard let size = try? file.seek(offset: 0, from: .end) else { return true }
        defer { ftruncate(file.rawValue, off_t(size)) }
        let page = [UInt8](repeating: 0, count: 4096)
        return (try? page.withUnsafeBytes { try file.write($0) }) == page.count
    }
}
