import CProcess
import Glibc
import Synchronization

/// A reader of the contents of files, which reads files only if their attributes have changed.
final class FileExaminer: Sendable {
    private struct State {
        var cache: StatCache
        /// The files that were read since the last call of ``takeRead()``.
        var read: [FileRecord] = []
    }

    /// The folders and records of one examination.
    private struct Walk {
        struct Folder: Hashable { let device: dev_t, inode: ino_t }

        let directory: String
        var start: Int64?
        var folders: Set<Folder> = []
        var records: [FileRecord] = []
    }

    private let state: Mutex<State>

    /// Creates an examiner that knows the contents of some files.
    init(_ cache: StatCache = StatCache()) { state = Mutex(State(cache: cache)) }

    /// Returns the contents of files, folders and globs, sorted by the bytes of the paths. O(files), and O(bytes) of files that
    /// have changed.
    ///
    /// - Parameter directory: The directory to which the paths are relative.
    func examine(_ declared: [String], in directory: String) -> [FileRecord] {
        var walk = Walk(directory: directory)
        for path in declared {
            if Glob.isPattern(path) {
                for found in Glob(pattern: path).find(in: directory).paths { add(found, to: &walk) }
            } else {
                add(Glob.literal(path), to: &walk)
            }
        }
        return walk.records.sortedByPath
    }

    /// Returns the contents of files and folders, sorted by the bytes of the paths. No path is a pattern.
    ///
    /// - Parameter start: A time after which no file may have changed, in nanoseconds since 1970. Others are uncertain.
    func examine(paths: [String], in directory: String, unchangedSince start: Int64? = nil) -> [FileRecord] {
        var walk = Walk(directory: directory, start: start)
        for path in paths { add(path, to: &walk) }
        return walk.records.sortedByPath
    }

    /// Returns the records of the files that were read since the last call.
    func takeRead() -> [FileRecord] {
        state.withLock { state in
            defer { state.read = [] }
            return state.read
        }
    }

    private func add(_ path: String, to walk: inout Walk) {
        var status = stat()
        let full = Self.full(path, in: walk.directory)
        guard full.withFileName({ stat($0, &status) }) == 0 else {
            // A link without a target, and a path that cannot be looked at, are no contents either.
            let isMissing = errno == ENOENT || errno == ENOTDIR
            return walk.records.append(FileRecord(path: path, content: isMissing ? .missing : .uncertain))
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: walk.records.append(file(path, at: full, status, walk.start))
        case S_IFDIR:
            // A link may lead to a folder around it. Its text counts then.
            guard walk.folders.insert(Walk.Folder(device: status.st_dev, inode: status.st_ino)).inserted else {
                let target = Self.target(of: full)
                let content: FileContent = target.map { .file(Digest(of: $0)) } ?? .folder
                return walk.records.append(FileRecord(path: path, content: content))
            }
            guard let names = Self.names(in: full) else {
                return walk.records.append(FileRecord(path: path, content: .uncertain))
            }
            walk.records.append(FileRecord(path: path, content: .folder))
            for name in names { add(path.hasSuffix("/") ? path + name : path + "/" + name, to: &walk) }
        default: walk.records.append(FileRecord(path: path, content: .other))
        }
    }

    /// Returns the text of a link. `nil` for another file.
    private static func target(of path: String) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = bytes.withUnsafeMutableBytes { bytes in
            path.withFileName { readlink($0, bytes.baseAddress!.assumingMemoryBound(to: CChar.self), bytes.count) }
        }
        return count < 0 ? nil : Array(bytes.prefix(count))
    }

    private func file(_ path: String, at full: String, _ status: stat, _ start: Int64?) -> FileRecord {
        var stamp = FileStamp(status)
        if let start, max(stamp.modified, stamp.changed) >= start { return FileRecord(path: path, content: .uncertain) }
        if let known = state.withLock({ $0.cache.digest(for: stamp) }) {
            return FileRecord(path: path, content: .file(known.digest), stamp: stamp, readTime: known.readTime)
        }
        // A file that is being written is read again.
        for _ in 0..<3 {
            let time = Self.now
            guard let (digest, after) = Self.read(full) else { break }
            if after == stamp {
                let record = FileRecord(path: path, content: .file(digest), stamp: stamp, readTime: time)
                state.withLock { state in
                    state.cache.add(record)
                    state.read.append(record)
                }
                return record
            }
            stamp = after
        }
        return FileRecord(path: path, content: .uncertain)
    }

    /// Returns the digest of a file, and its attributes after the reading. `nil` if the file cannot be read.
    private static func read(_ path: String) -> (Digest, FileStamp)? {
        let file = path.withFileName { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard file >= 0 else { return nil }
        defer { close(file) }
        var hasher = DigestHasher()
        let isRead = withUnsafeTemporaryAllocation(byteCount: 64 * 1024, alignment: 16) { chunk in
            while true {
                let count = Glibc.read(file, chunk.baseAddress, chunk.count)
                if count < 0, errno == EINTR { continue }
                if count <= 0 { return count == 0 }
                hasher.add(UnsafeRawBufferPointer(rebasing: chunk[..<count]))
            }
        }
        var status = stat()
        guard isRead, fstat(file, &status) == 0 else { return nil }
        return (hasher.finish(), FileStamp(status))
    }

    private static func names(in directory: String) -> [String]? {
        guard let stream = directory.withFileName({ opendir($0) }) else { return nil }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = entry.pointee.fileName
            // The journal changes with each run.
            if name != ".", name != "..", name != ".opq" { names.append(name) }
        }
        return names.sorted { $0.bytesPrecede($1) }
    }

    /// Returns a path that is relative to the current directory.
    static func full(_ path: String, in directory: String) -> String {
        path.hasPrefix("/") || directory == "." ? path : "\(directory)/\(path)"
    }

    /// The current time in nanoseconds since 1970.
    static var now: Int64 { cprocess_time(CLOCK_REALTIME) }

    /// The time that a file gets if it is written now. It is up to some milliseconds behind ``now``.
    static var fileTime: Int64 { cprocess_time(CLOCK_REALTIME_COARSE) }
}

extension FileStamp {
    fileprivate init(_ status: stat) {
        var status = status
        self.init(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
            modified: cprocess_modified(&status), changed: cprocess_changed(&status))
    }
}
