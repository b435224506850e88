/// The content of a path, as far as it matters for an operation.
enum FileContent: Hashable, Sendable {
    case missing
    case file(Digest)
    /// An empty folder, or a folder whose files have records of their own.
    case folder
    /// A path that is neither a file nor a folder, such as a device.
    case other
    /// A file that changed while the command ran, or that could not be read. It differs from every content.
    case uncertain
}

/// The attributes of a file that change when its content changes, unless a clock is set back.
struct FileStamp: Hashable, Sendable {
    var device, inode: UInt64
    var size: Int64
    /// The times of the last change of the content and of the attributes, in nanoseconds since 1970.
    var modified, changed: Int64
}

/// The content of a path at one moment.
struct FileRecord: Hashable, Sendable {
    /// The path, absolute or relative to the directory of the operation.
    let path: String
    let content: FileContent
    /// The attributes of the file when it was read. `nil` if the path is not a file.
    var stamp: FileStamp?
    /// The time at which the file was read, in nanoseconds since 1970.
    var readTime: Int64 = 0
}

/// The contents of files that were read, by the identities of the files.
struct StatCache: Sendable {
    private struct Identity: Hashable { let device, inode: UInt64 }
    private struct Entry { let stamp: FileStamp, digest: Digest, readTime: Int64 }

    /// The resolution of the times of a file system, in nanoseconds. A later write within it may leave the stamp unchanged.
    private static let (tick, coarseTick): (Int64, Int64) = (20_000_000, 2_000_000_000)

    private var entries: [Identity: Entry] = [:]

    /// Creates an empty cache.
    init() {}

    /// Adds a file that was read. A file that is newer in the cache stays.
    mutating func add(_ record: FileRecord) {
        guard let stamp = record.stamp, case .file(let digest) = record.content else { return }
        let identity = Identity(device: stamp.device, inode: stamp.inode)
        if let known = entries[identity], known.readTime > record.readTime { return }
        entries[identity] = Entry(stamp: stamp, digest: digest, readTime: record.readTime)
    }

    /// Returns the digest of a file and the time at which it was read. `nil` if the file has to be read.
    ///
    /// A file whose times are not older than its reading is read again: a later write may have the same times. This is also
    /// so after the clock was set back.
    func digest(for stamp: FileStamp) -> (digest: Digest, readTime: Int64)? {
        guard let entry = entries[Identity(device: stamp.device, inode: stamp.inode)], entry.stamp == stamp else {
            return nil
        }
        // File systems with whole seconds have no nanoseconds.
        let isCoarse = stamp.modified % 1_000_000_000 == 0 && stamp.changed % 1_000_000_000 == 0
        let latest = max(stamp.modified, stamp.changed)
        guard latest + (isCoarse ? Self.coarseTick : Self.tick) < entry.readTime else { return nil }
        return (entry.digest, entry.readTime)
    }
}
