import Foundation

/// The bodies on disk. The files are in `bodies/`, in one directory for each pair of first digits, and have the SHA-256
/// digest of their content as name. `unfinished/` contains the files that are being written. Files have mode 0600 and
/// directories have mode 0700.
///
/// A body gets its name, and is removed, only while the index is locked. A file without an entry therefore has no owner
/// in any process.
struct BodyFiles {
    let bodies: String
    let unfinished: String
    let synchronises: Bool

    init(in directory: String, synchronises: Bool) {
        bodies = "\(directory)/bodies"
        unfinished = "\(directory)/unfinished"
        self.synchronises = synchronises
    }

    /// Creates a directory and its missing parents for the owner only. An existing directory loses the write permission
    /// of other users, because these users could otherwise insert files.
    static func makeDirectory(_ path: String) throws(HTTPCacheError) {
        if mkdir(path, 0o700) == 0 { return }
        var code = errno
        if code == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex {
            try makeDirectory(String(path[..<slash]))
            code = mkdir(path, 0o700) == 0 ? 0 : errno
        }
        var status = stat()
        if code == EEXIST, stat(path, &status) == 0 { code = status.st_mode & S_IFMT == S_IFDIR ? 0 : ENOTDIR }
        guard code == 0 else { throw .unusableDirectory(path: path, code: code) }
        try checkOwner(path)
        let writable = S_IWGRP | S_IWOTH
        if status.st_mode & writable != 0, chmod(path, status.st_mode & 0o7777 & ~writable) != 0 {
            throw .unusableDirectory(path: path, code: errno)
        }
    }

    /// Throws if another user owns the file or a symbolic link to it, because that user could change the file at any
    /// time. A path without a file is valid.
    static func checkOwner(_ path: String) throws(HTTPCacheError) {
        var (link, file) = (stat(), stat())
        guard lstat(path, &link) == 0 else { return }
        let isLink = link.st_mode & S_IFMT == S_IFLNK
        if isLink, link.st_uid != geteuid(), link.st_uid != 0 { throw .foreignOwner(path: path) }
        guard stat(path, &file) == 0 else { return }
        if file.st_uid != geteuid() { throw .foreignOwner(path: path) }
    }

    /// Returns the path of a body. File names contain digests only, so that a server cannot choose a name.
    func path(of digest: String) -> String { "\(bodies)/\(digest.prefix(2))/\(digest)" }

    /// Creates a new file for writing, and creates its directory again if it was removed.
    func newTemporaryFile() throws(HTTPCacheError) -> TemporaryFile {
        do throws(HTTPCacheError) { return try TemporaryFile(in: unfinished) } catch {
            guard case .cannotWrite(_, ENOENT) = error else { throw error }
            try Self.makeDirectory(unfinished)
            return try TemporaryFile(in: unfinished)
        }
    }

    func has(_ digest: String, size: Int64) -> Bool {
        var status = stat()
        return lstat(path(of: digest), &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_size == size
            && status.st_uid == geteuid()
    }

    /// Moves a finished file to its final name.
    func adopt(_ file: TemporaryFile, as digest: String) throws(HTTPCacheError) {
        if synchronises { try file.synchronise() }
        try Self.makeDirectory("\(bodies)/\(digest.prefix(2))")
        try file.rename(to: path(of: digest))
    }

    /// Opens a body for reading. The open file remains readable after its removal. Returns nil if the file is missing
    /// or has another size or owner.
    func open(_ digest: String, size: Int64) throws(HTTPCacheError) -> OpenFile? {
        let path = path(of: digest)
        let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw .cannotRead(path: path, code: errno)
        }
        let file = OpenFile(descriptor, path: path)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_size == size, status.st_uid == geteuid() else { return nil }
        return file
    }

    func remove(_ digest: String) { unlink(path(of: digest)) }

    // MARK: - Sweeping

    /// Removes unfinished files of crashed processes. Such a file is not locked and has not changed for `age` seconds.
    /// The age is necessary because a new file exists for a moment before it is locked.
    func sweepUnfinished(olderThan age: Double, now: Date) {
        for name in Self.names(in: unfinished) {
            let path = "\(unfinished)/\(name)"
            let descriptor = Foundation.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard descriptor >= 0 else { continue }
            defer {
                flock(descriptor, LOCK_UN)
                close(descriptor)
            }
            var status = stat()
            guard fstat(descriptor, &status) == 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0,
                now.timeIntervalSince1970 - Double(status.modified) >= age
            else { continue }
            unlink(path)
        }
    }

    static let prefixes: [String] = (0..<256).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }

    /// Returns the digests of the files whose names begin with two digits.
    func digests(withPrefix prefix: String) -> [String] { Self.names(in: "\(bodies)/\(prefix)") }

    private static func names(in directory: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    }
}

extension stat {
    fileprivate var modified: Int {
        #if canImport(Darwin)
        st_mtimespec.tv_sec
        #else
        Int(st_mtim.tv_sec)
        #endif
    }
}

/// A file that remains open for reading until the object is deallocated.
final class OpenFile: Sendable {
    let path: String
    private let descriptor: Int32

    init(_ descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }

    /// Reads `count` bytes at an offset. The result is shorter only at the end of the file.
    func read(at offset: Int64, count: Int) throws(HTTPCacheError) -> Data {
        var data = Data(count: max(0, count))
        var done = 0
        while done < data.count {
            let (start, end) = (done, data.count)
            let got = data.withUnsafeMutableBytes { buffer in
                pread(
                    descriptor, buffer.baseAddress! + start, end - start, off_t(offset) + off_t(start))
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw .cannotRead(path: path, code: errno) }
            if got == 0 { break }
            done += got
        }
        return done < data.count ? data.prefix(done) : data
    }
}
