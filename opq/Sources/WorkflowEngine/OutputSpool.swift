import Glibc
import Synchronization
import SystemPackage

/// The output of a command until it is shown, in the order in which the command wrote it.
///
/// A short output stays in memory. Beyond ``memoryLimit``, this process writes the output to a temporary file that has no
/// name in its directory. The command itself writes to a pipe. With a file, `> /dev/stderr` in the command would discard the
/// earlier output, and the limit of file sizes would apply to output.
public final class OutputSpool: OutputSink {
    /// The number of bytes that are kept in memory before a file holds the output.
    static let memoryLimit = 64 * 1024
    /// The number of bytes that are kept in memory if no file can hold them because of the limit of file sizes.
    static let largestMemory = 64 * 1024 * 1024

    fileprivate struct State {
        var file: FileDescriptor?
        /// The number of bytes in the file, which precede those in `memory`.
        var fileCount = 0
        var memory: [UInt8] = []
        var isLost = false
        /// Whether the file has reached the limit of file sizes.
        var isFileFull = false
        /// The filter that masks secrets. `nil` if there are none.
        var filter: SecretFilter?
        /// A function that is called when there is new output, until ``takeNews()`` is called.
        var grows: (@Sendable () -> Void)?
        var hasNews = false
    }

    private let directory: SpoolDirectory
    private let state = Mutex(State())

    init(in directory: SpoolDirectory, _ filter: SecretFilter? = nil) {
        self.directory = directory
        if let filter { state.withLock { $0.filter = filter } }
    }

    deinit { state.withLock { try? $0.file?.close() } }

    /// Whether a part of the output found no space.
    var hasLostOutput: Bool { state.withLock(\.isLost) }

    /// Whether the command wrote nothing.
    public var isEmpty: Bool { state.withLock { $0.fileCount + $0.memory.count == 0 } }

    /// Adds output. Only one thread adds, and no thread adds after the end of the command.
    func append(_ bytes: UnsafeRawBufferPointer) {
        let grows = state.withLock { state in
            if state.isLost { return (@Sendable () -> Void)?.none }
            if state.filter == nil { add(bytes, to: &state) }
            state.filter?.pass(bytes).withUnsafeBytes { add($0, to: &state) }
            guard let grows = state.grows, !state.hasNews else { return nil }
            state.hasNews = true
            return grows
        }
        grows?()
    }

    /// Sets the function that is called when there is new output. One call stands for all output until ``takeNews()``, so a
    /// slow reader delays no command and needs no memory.
    func notifyGrowth(by function: @escaping @Sendable () -> Void) { state.withLock { $0.grows = function } }

    /// Has the next output call the function again. The caller reads the output after this call.
    func takeNews() { state.withLock { $0.hasNews = false } }

    /// Adds the bytes that a filter holds back. No output follows.
    func finish() {
        state.withLock { state in
            guard !state.isLost, state.filter != nil else { return }
            state.filter?.finish().withUnsafeBytes { add($0, to: &state) }
        }
    }

    private func add(_ bytes: UnsafeRawBufferPointer, to state: inout State) {
        if state.memory.count + bytes.count <= Self.memoryLimit, state.file == nil {
            return state.memory.append(contentsOf: bytes)
        }
        if !state.isFileFull {
            if state.file == nil { state.open(in: directory) }
            if !state.memory.isEmpty { state.moveMemoryToFile() }
        }
        state.write(bytes)
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
        let count = state.withLock { $0.fileCount + $0.memory.count }
        var tail: [UInt8] = []
        try read(from: max(count - byteCount, 0)) { tail += $0 }
        return tail
    }

    /// Passes the present output from an offset to `body`. The command may still write: bytes never change.
    func read(from start: Int, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let (file, fileCount, memory) = state.withLock { ($0.file, $0.fileCount, $0.memory) }
        if let file, start < fileCount {
            var offset = start
            try withUnsafeTemporaryAllocation(byteCount: 64 * 1024, alignment: 16) { chunk in
                while offset < fileCount {
                    let count = try file.read(fromAbsoluteOffset: Int64(offset), into: chunk)
                    if count == 0 { return }
                    offset += count
                    try body(UnsafeRawBufferPointer(rebasing: chunk[..<count]))
                }
            }
        }
        try memory.withUnsafeBytes { bytes in
            var rest = bytes.dropFirst(max(start - fileCount, 0))
            while !rest.isEmpty {
                try body(UnsafeRawBufferPointer(rebasing: rest.prefix(64 * 1024)))
                rest = rest.dropFirst(64 * 1024)
            }
        }
    }
}

extension OutputSpool.State {
    fileprivate mutating func open(in directory: SpoolDirectory) {
        do {
            file = try directory.makeFile()
        } catch {
            // Without a descriptor or a folder, the output stays in memory, as far as the memory limit permits.
            isFileFull = true
        }
    }

    fileprivate mutating func moveMemoryToFile() {
        let held = memory
        memory = []
        held.withUnsafeBytes { write($0) }
    }

    fileprivate mutating func write(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while !rest.isEmpty, !isFileFull, let file {
            do {
                let count = try file.write(UnsafeRawBufferPointer(rebasing: rest))
                fileCount += count
                rest = rest.dropFirst(count)
            } catch Errno.interrupted {
                continue
            } catch Errno.fileTooLarge {
                isFileFull = true
            } catch {
                isLost = true
                return
            }
        }
        guard !rest.isEmpty else { return }
        if memory.count + rest.count > OutputSpool.largestMemory {
            isLost = true
        } else {
            memory.append(contentsOf: rest)
        }
    }
}

/// The directory for temporary files, which contains the files of spools.
final class SpoolDirectory: Sendable {
    /// The path of the directory: the value of `TMPDIR`, or `/tmp`.
    let path: String
    private let takesNameless = Atomic(true)
    /// The filter of all spools that masks secrets.
    private let filter: Mutex<SecretFilter?>

    /// Creates a directory object for `path`, or for the default path if `path` is `nil`.
    init(path: String? = nil, filter: SecretFilter? = nil) {
        self.filter = Mutex(filter)
        self.path = path ?? getenv("TMPDIR").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    }

    /// Returns an empty spool.
    func makeSpool() -> OutputSpool { OutputSpool(in: self, filter.withLock(\.self)) }

    /// Masks a value in all spools that are made from now on, also if only a line of the value is printed.
    func mask(_ value: String) {
        let lines = value.split(separator: "\n").map(String.init).filter { $0.utf8.count >= 4 }
        filter.withLock { $0 = SecretFilter([value] + lines, and: $0) }
    }

    /// Whether a text has a secret.
    func isSecret(_ text: String) -> Bool { filter.withLock { $0.map { $0.masked(text) != text } ?? false } }

    /// Opens an empty file for writing and reading.
    ///
    /// - Throws: `Shortage` if a resource is short, or `StartFailure` if the file cannot be created for another reason.
    func makeFile() throws -> FileDescriptor {
        let descriptor = openNameless() ?? openNamed()
        guard descriptor >= 0 else {
            if let shortage = Shortage(errno, directory: path) { throw shortage }
            throw StartFailure(text: "cannot make a temporary file in '\(path)': \(errorText(errno))")
        }
        return FileDescriptor(rawValue: descriptor)
    }

    /// Opens a file that never has a name. Returns `nil` if the file system does not support such files.
    private func openNameless() -> Int32? {
        guard takesNameless.load(ordering: .relaxed) else { return nil }
        // The value of O_TMPFILE, whose macro Swift does not import because it combines two flags.
        let descriptor = open(path, 0o20_000_000 | O_DIRECTORY | O_RDWR | O_CLOEXEC | O_EXCL, 0o600)
        guard descriptor < 0, errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL else { return descriptor }
        takesNameless.store(false, ordering: .relaxed)
        return nil
    }

    private func openNamed() -> Int32 {
        let name = "\(path)/opq-\(UInt64.random(in: .min ... .max))"
        let descriptor = open(name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        if descriptor >= 0 { unlink(name) }
        return descriptor
    }
}
