import Glibc
import Synchronization

/// The folder `.opq/FILE` beside a workflow file, which has the journal and the logs of its runs.
///
/// The journal is only appended to. Each entry is written by one call, so an entry that was written survives the end of this
/// process. A lock keeps two runs from mixing their entries.
public final class RunStore: Sendable {
    /// The reason why a store cannot be used.
    public struct Failure: Error {
        /// The reason with the place and the remedy.
        public let text: String
        /// Whether a run can work without a store, because the folder cannot be written.
        public let isHarmless: Bool
    }

    private struct State {
        var size: Int
        var failure: String?
        /// The reason why a log could not be written.
        var lostLogs: String?
    }

    /// The path of the folder.
    let path: String
    /// The path of the workflow file.
    let workflow: String
    /// The runs before this one.
    let history: RunHistory
    /// The number of runs that the history keeps.
    let keptRuns: Int
    private let journal: Int32
    private let lock: Int32
    private let state: Mutex<State>

    /// Opens the store of a workflow file for a run.
    ///
    /// - Parameters:
    ///   - workflow: The path of the file.
    ///   - keptRuns: The number of runs that the journal keeps.
    /// - Throws: ``Failure``.
    public init(of workflow: String, keptRuns: Int = 100) throws(Failure) {
        self.workflow = workflow
        self.keptRuns = keptRuns
        path = Self.folder(of: workflow)
        try Self.makeFolders(path)
        lock = try Self.lock(path, workflow)
        let file = path + "/journal"
        do throws(Failure) {
            var entries: [JournalEntry] = []
            journal = file.withFileName { open($0, O_RDWR | O_CREAT | O_CLOEXEC, 0o666) }
            guard journal >= 0 else { throw Self.failure("cannot write", file) }
            let bytes = try Self.read(journal, file)
            let contents = try Self.contents(of: bytes, file)
            entries = contents.entries
            var size = contents.validCount
            // An entry that was cut off is removed, and a shorter journal takes the place of a long one.
            let kept = RunHistory.compacted(entries, keepingRuns: keptRuns)
            if size == 0 {
                // A header that was cut off is a journal without entries.
                let count = JournalFormat.header.count
                guard pwrite(journal, JournalFormat.header, count, 0) == count else {
                    throw Self.failure("cannot write", file)
                }
                size = count
            } else if kept.count < entries.count - entries.count / 2 {
                let new = JournalFormat.header + kept.flatMap { JournalFormat.frame($0) }
                try Self.replace(journal, file, by: new)
                (entries, size) = (kept, new.count)
            } else if size < bytes.count {
                ftruncate(journal, off_t(size))
            }
            history = RunHistory(entries)
            state = Mutex(State(size: size))
        } catch {
            Self.unlock(lock)
            throw error
        }
    }

    deinit {
        close(journal)
        Self.unlock(lock)
    }

    /// Reads the history of a workflow file without a run.
    ///
    /// - Throws: ``Failure`` if the journal is damaged or cannot be read.
    static func history(of workflow: String) throws(Failure) -> RunHistory {
        let file = folder(of: workflow) + "/journal"
        let descriptor = file.withFileName { open($0, O_RDONLY | O_CLOEXEC) }
        guard descriptor >= 0 else {
            if errno == ENOENT { return RunHistory() }
            throw failure("cannot read", file)
        }
        defer { close(descriptor) }
        return RunHistory(try contents(of: read(descriptor, file), file).entries)
    }

    /// The reason why entries could not be written, or will not be found. `nil` if all were.
    var writeFailure: String? {
        if let failure = state.withLock(\.failure) { return failure }
        var (named, own) = (stat(), stat())
        let file = path + "/journal"
        guard fstat(journal, &own) == 0, file.withFileName({ stat($0, &named) }) == 0,
            named.st_ino == own.st_ino, named.st_dev == own.st_dev
        else { return "\(file) was removed during the run" }
        return nil
    }

    /// The reason why the log of an operation could not be written. `nil` if all were.
    var logFailure: String? { state.withLock(\.lostLogs) }

    /// Adds an entry to the journal. After a failure, no entry is added any more.
    func append(_ entry: JournalEntry) {
        let frame = JournalFormat.frame(entry)
        state.withLock { state in
            guard state.failure == nil else { return }
            var done = 0
            while done < frame.count {
                let count = frame.withUnsafeBytes {
                    pwrite(journal, $0.baseAddress! + done, frame.count - done, off_t(state.size + done))
                }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    state.failure = "cannot write \(path)/journal: \(errorText(errno))"
                    // Half an entry would be damage if another process added entries after it.
                    ftruncate(journal, off_t(state.size))
                    return
                }
                done += count
            }
            state.size += frame.count
        }
    }

    /// Waits until the entries are on the disk.
    func synchronize() { fdatasync(journal) }

    // MARK: - Logs

    /// Returns the path of the log of an operation.
    static func log(of name: String, in folder: String) -> String {
        var text = ""
        for byte in name.fileNameBytes.prefix(100) {
            let isPlain = UInt8.isPlain(byte)
            text += isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        // Long names may have equal beginnings.
        return folder + "/logs/" + text + "-" + String(Digest(of: [name]).first, radix: 36)
    }

    /// Writes the log of an operation, which replaces the one of an earlier run.
    ///
    /// - Returns: Whether there is output, and whether it was written.
    func writeLog(_ spool: OutputSpool, of name: String) -> OperationEnd.Log {
        var path: String { Self.log(of: name, in: self.path) }
        guard !spool.isEmpty else {
            if history.loggedNames.contains(ByteKey(name)) { _ = path.withFileName { unlink($0) } }
            return .empty
        }
        let file = path.withFileName { open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666) }
        guard file >= 0 else { return lost(name, errno) }
        defer { close(file) }
        var failure: Int32?
        do {
            try spool.read { bytes in
                var rest = bytes[...]
                while !rest.isEmpty, failure == nil {
                    let count = write(file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                    if count < 0, errno == EINTR { continue }
                    if count <= 0 { failure = errno }
                    rest = rest.dropFirst(max(count, 0))
                }
            }
        } catch {
            failure = EIO
        }
        return failure.map { lost(name, $0) } ?? .inFile
    }

    /// Records that a log is lost. The reason of the first one is for the user.
    private func lost(_ name: String, _ error: Int32) -> OperationEnd.Log {
        state.withLock { state in
            state.lostLogs = state.lostLogs ?? "the log of '\(name)' is lost: \(errorText(error))"
        }
        return .lost
    }

    // MARK: - Files

    /// Returns the folder of a workflow file. A link has the folder of its target, so that one lock guards both names.
    static func folder(of workflow: String) -> String {
        var workflow = workflow
        var status = stat()
        if workflow.withFileName({ lstat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFLNK,
            let target = workflow.withFileName({ realpath($0, nil) })
        {
            workflow = String(fileName: Array(UnsafeRawBufferPointer(start: target, count: strlen(target))))
            free(target)
        }
        let name = workflow.lastPathComponent
        return (String(workflow.utf8.dropLast(name.utf8.count)) ?? "") + ".opq/" + name
    }

    private static func makeFolders(_ path: String) throws(Failure) {
        let parent = String(path.utf8.dropLast(path.lastPathComponent.utf8.count + 1)) ?? path
        var isNew = false
        for folder in [parent, path, path + "/logs"] {
            if folder.withFileName({ mkdir($0, 0o777) }) == 0 {
                if folder == parent { isNew = true }
            } else if errno != EEXIST {
                throw failure("cannot make", folder, isHarmless: true)
            }
        }
        guard isNew else { return }
        // Git then ignores the folder, also without a line in the project's own file.
        let ignored = (parent + "/.gitignore").withFileName { open($0, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666) }
        if ignored >= 0 {
            _ = write(ignored, "*\n", 2)
            close(ignored)
        }
    }

    private static func lock(_ path: String, _ workflow: String) throws(Failure) -> Int32 {
        let file = (path + "/lock").withFileName { open($0, O_RDWR | O_CREAT | O_CLOEXEC, 0o666) }
        guard file >= 0 else { throw failure("cannot write", path + "/lock", isHarmless: true) }
        if flock(file, LOCK_EX | LOCK_NB) != 0 {
            let error = errno
            let owner = owner(of: file).map { "\($0)" } ?? "?"
            close(file)
            guard error == EWOULDBLOCK else {
                throw Failure(text: "cannot lock \(path)/lock: \(errorText(error))", isHarmless: true)
            }
            throw Failure(
                text: "process \(owner) runs '\(workflow)' already; wait for its end, or stop it", isHarmless: false)
        }
        let text = "\(getpid())\n"
        ftruncate(file, 0)
        _ = pwrite(file, text, text.utf8.count, 0)
        return file
    }

    private static func unlock(_ file: Int32) {
        // To close the descriptor is not enough: a child process that does not run its program yet has a copy of it.
        flock(file, LOCK_UN)
        close(file)
    }

    private static func read(_ file: Int32, _ path: String) throws(Failure) -> [UInt8] {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw failure("cannot read", path) }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                pread(file, $0.baseAddress! + done, $0.count - done, off_t(done))
            }
            if count < 0, errno == EINTR { continue }
            if count < 0 { throw failure("cannot read", path) }
            if count == 0 { break }
            done += count
        }
        return Array(bytes.prefix(done))
    }

    private static func contents(of bytes: [UInt8], _ path: String) throws(Failure) -> JournalFormat.Contents {
        do throws(JournalFormat.Damage) {
            return try JournalFormat.read(bytes)
        } catch {
            let remedy =
                switch error {
                case .unknownVersion: "use that version, or move the file away"
                case .badEntry: "move the file away"
                }
            throw Failure(
                text: "cannot read \(path): \(error.text); \(remedy): without it, every operation runs again",
                isHarmless: false)
        }
    }

    /// Writes a new journal beside the old one, and then renames it, so that one of them is complete at any time.
    private static func replace(_ journal: Int32, _ path: String, by bytes: [UInt8]) throws(Failure) {
        let new = (path + ".new").withFileName { open($0, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666) }
        guard new >= 0 else { throw failure("cannot write", path + ".new") }
        defer { close(new) }
        guard write(new, bytes, bytes.count) == bytes.count, fdatasync(new) == 0,
            (path + ".new").withFileName({ from in path.withFileName { rename(from, $0) } }) == 0,
            dup2(new, journal) >= 0,
            fcntl(journal, F_SETFD, FD_CLOEXEC) == 0
        else { throw failure("cannot write", path + ".new") }
    }

    private static func failure(_ action: String, _ path: String, isHarmless: Bool = false) -> Failure {
        Failure(text: "\(action) \(path): \(errorText(errno))", isHarmless: isHarmless)
    }
}

extension UInt8 {
    fileprivate static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
    }
}
