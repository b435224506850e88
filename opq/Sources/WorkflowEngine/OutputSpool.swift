import Glibc
import Synchronization
import SystemPackage

/// What an operation printed, until it is its turn to be shown.
///
/// The command writes into the spool itself, with both its standard output and its standard error, so their
/// order is that of a terminal. The spool is a file without a name in the directory for temporary files:
/// whatever a command prints takes no memory here, it is bounded by the space there, and it is gone with
/// the process.
public final class OutputSpool: Sendable {
    /// Where the command writes to.
    let file: FileDescriptor
    private let directory: SpoolDirectory
    private let fullCount: Int

    fileprivate init(file: FileDescriptor, in directory: SpoolDirectory) {
        self.file = file
        self.directory = directory
        fullCount = directory.fullCount
    }

    deinit {
        // The space is free after this: the last moment to see that there was none for the commands that run now.
        directory.noteIfFull(file)
        try? file.close()
    }

    /// Whether the directory has had no space left at some time since the spool was made, so that output may be lost.
    ///
    /// The command had the error, and need not have passed it on. Space that other programs took and gave back meanwhile is
    /// not seen.
    var mayHaveLostOutput: Bool {
        directory.noteIfFull(file)
        return directory.fullCount != fullCount
    }

    /// Hands over what was printed, from the start, in chunks of at most 64 KiB.
    ///
    /// - Throws: `Errno`, and whatever `body` throws.
    public func read(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        try read(from: 0, body)
    }

    /// The last bytes of what was printed, at most so many.
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

/// The directory for temporary files, where the spools of a run are.
final class SpoolDirectory: Sendable {
    /// The path: that in `TMPDIR`, or `/tmp`.
    let path: String
    private let full = Atomic<Int>(0)
    private let takesNameless = Atomic(true)

    /// The directory at a path, or the usual one.
    init(path: String? = nil) {
        self.path = path ?? getenv("TMPDIR").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    }

    /// Opens an empty spool.
    ///
    /// - Throws: `Shortage`, or `StartFailure` if the directory takes no file for another reason.
    func makeSpool() throws -> OutputSpool {
        let descriptor = openNameless() ?? openNamed()
        guard descriptor >= 0 else {
            if let shortage = Shortage(errno, directory: path) { throw shortage }
            throw StartFailure(text: "cannot make a temporary file in '\(path)': \(errorText(errno))")
        }
        return OutputSpool(file: FileDescriptor(rawValue: descriptor), in: self)
    }

    /// A file that never has a name; `nil` if this file system has no such files.
    ///
    /// Appending, each process writes behind what the others have written, whatever it was before.
    private func openNameless() -> Int32? {
        guard takesNameless.load(ordering: .relaxed) else { return nil }
        // O_TMPFILE, which the headers make of two.
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

    /// How often the directory was seen to be full.
    fileprivate var fullCount: Int { full.load(ordering: .relaxed) }

    /// Counts if there is no space left where the file is.
    fileprivate func noteIfFull(_ file: FileDescriptor) {
        var space = statvfs()
        // Without a bound, no number of blocks says anything.
        guard fstatvfs(file.rawValue, &space) == 0, space.f_blocks > 0 else { return }
        let free = geteuid() == 0 ? space.f_bfree : space.f_bavail
        guard UInt64(free) * UInt64(space.f_frsize) < 64 * 1024, !takesPage(file) else { return }
        full.add(1, ordering: .relaxed)
    }

    /// Whether the file can grow by a page. It is as it was afterwards.
    private func takesPage(_ file: FileDescriptor) -> Bool {
        guard let size = try? file.seek(offset: 0, from: .end) else { return true }
        defer { ftruncate(file.rawValue, off_t(size)) }
        let page = [UInt8](repeating: 0, count: 4096)
        return (try? page.withUnsafeBytes { try file.write($0) }) == page.count
    }
}
