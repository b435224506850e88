#if Networking
import Foundation

/// The bodies on disk: `bodies/` with a directory for each first two digits, files named by the SHA-256 digest of what
/// they hold, and `unfinished/` for what is being written. Mode 0600 in directories of 0700.
///
/// A body comes to its name, and goes, only while the index is locked; so a file of that name without an entry has no
/// owner in any process.
struct BodyFiles {
    let bodies: String
    let unfinished: String
    let synchronises: Bool

    init(in directory: String, synchronises: Bool) {
        bodies = "\(directory)/bodies"
        unfinished = "\(directory)/unfinished"
        self.synchronises = synchronises
    }

    /// Makes a directory and those above it that are missing, each for the owner alone. Other users lose the
    /// right to write to one that is there: else they could put files in it.
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

    /// Another user could change a file of his at any time, and so could the owner of a link to the file. A path without a file
    /// passes.
    static func checkOwner(_ path: String) throws(HTTPCacheError) {
        var (link, file) = (stat(), stat())
        guard lstat(path, &link) == 0 else { return }
        let isLink = link.st_mode & S_IFMT == S_IFLNK
        if isLink, link.st_uid != geteuid(), link.st_uid != 0 { throw .foreignOwner(path: path) }
        guard stat(path, &file) == 0 else { return }
        if file.st_uid != geteuid() { throw .foreignOwner(path: path) }
    }

    /// Only digests become names, so nothing that a server says does.
    func path(of digest: String) -> String { "\(bodies)/\(digest.prefix(2))/\(digest)" }

    /// A new file to write to. Its directory is made if somebody has removed it.
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

    /// Gives a finished file its name.
    func adopt(_ file: TemporaryFile, as digest: String) throws(HTTPCacheError) {
        if synchronises { try file.synchronise() }
        try Self.makeDirectory("\(bodies)/\(digest.prefix(2))")
        try file.rename(to: path(of: digest))
    }

    /// A body open for reading, which stays readable when the file is removed; nil if it is not there, or is not whole.
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

    /// Removes what crashes have left of files being written: nobody holds their lock, and they have not changed for
    /// `age` seconds. (A new file is there for a moment before it is locked.)
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

    /// The digests that have a file, of those that begin with two digits.
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

/// A file open for reading until this object is gone.
final class OpenFile: Sendable {
    let path: String
    private let descriptor: Int32

    init(_ descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }

    /// Fewer bytes than asked for only at the end.
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
#endif
