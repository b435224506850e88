import Foundation
import GRDB

/// The storage of a cache: entries and bodies on disk, entries and bodies of this process, and recently used bodies in
/// memory. The actor performs all blocking calls of the index on its own queue.
actor CacheStore {
    struct Limits: Sendable {
        /// The maximum size of bodies in memory, in bytes.
        var memory: Int
        /// The maximum size on disk in bytes: the bodies, the heads, and `CacheEntry.overhead` for each entry.
        var disk: Int64
        /// The maximum time since the arrival or the last validation, in seconds.
        var age: Double?
    }

    /// The two parts of the storage. A cache without a directory has no permanent part.
    enum Shelf: Sendable { case session, permanent }

    private let executor = DiskExecutor("HTTPCache.index")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    nonisolated let limits: Limits
    private let busyTimeout: Double
    nonisolated let directory: String?
    nonisolated let files: BodyFiles?
    nonisolated let step: CacheStepHook
    nonisolated let report: @Sendable (HTTPCacheError) -> Void
    let revalidations = RevalidationClaims()

    private var disk: CacheIndex?
    private var session: CacheIndex?
    var memory: MemoryBodies
    /// The identity of the open index file. Another process can replace the file of that name.
    private var openFile: FileIdentity?
    /// The removals that the index on disk has not recorded yet, because it could not be written.
    private var overdue: Set<CacheIndex.Removal> = []
    private static let overdueLimit = 1_024
    /// The earliest time of the next attempt after a failure to open the index.
    private var nextOpening: ContinuousClock.Instant?

    /// The maximum size of a body that the cache keeps in memory and reads at once, in bytes. A cache on disk reads
    /// larger bodies from their file in pieces.
    static let smallBody = 256 << 10

    init(
        directory: String?, limits: Limits, synchronises: Bool, busyTimeout: Double = 2, step: @escaping CacheStepHook,
        report: @escaping @Sendable (HTTPCacheError) -> Void
    ) {
        (self.directory, self.limits, self.step, self.report) = (directory, limits, step, report)
        self.busyTimeout = busyTimeout
        files = directory.map { BodyFiles(in: $0, synchronises: synchronises) }
        memory = MemoryBodies(limit: limits.memory)
    }

    /// Returns the part of the storage for entries with this retention.
    nonisolated func shelf(_ retention: HTTPCachePolicy.Retention) -> Shelf {
        directory == nil || retention == .session ? .session : .permanent
    }

    nonisolated func limit(_ shelf: Shelf) -> Int64 { shelf == .session ? Int64(limits.memory) : limits.disk }

    // MARK: - The indexes

    /// Calls a function with an index and returns its result. Returns nil and reports the error if the index fails.
    func use<Value>(_ shelf: Shelf, _ body: (CacheIndex) throws -> Value) -> Value? {
        do {
            guard let index = try index(shelf) else { return nil }
            return try body(index)
        } catch {
            failed(error, shelf)
            return nil
        }
    }

    /// Changes an index, and removes the bodies that no entry references any more. The removal happens inside the
    /// transaction. Another process could otherwise reference such a body again and then lose it.
    @discardableResult
    func change<Value>(_ shelf: Shelf, _ body: (inout CacheIndex.Transaction) throws -> Value) -> Value? {
        var gone: [String] = []
        let first = shelf == .permanent ? overdue : []
        let value = use(shelf) { index in
            try index.change { transaction in
                for removal in first { try transaction.remove(removal) }
                let value = try body(&transaction)
                gone = try transaction.unreferenced.filter { try !transaction.references($0) }
                if shelf == .permanent, !gone.isEmpty {
                    for digest in gone { files?.remove(digest) }
                    try step(.bodiesRemoved)
                }
                return value
            }
        }
        guard value != nil else { return nil }
        overdue.subtract(first)
        for digest in gone { dropFromMemory(digest, unlessNamedIn: shelf == .session ? .permanent : .session) }
        return value
    }

    /// Removes entries from both parts.
    func remove(_ removal: CacheIndex.Removal) {
        change(.session) { try $0.remove(removal) }
        if change(.permanent, { try $0.remove(removal) }) == nil { noteOverdue(removal) }
    }

    /// Notes a removal that the index on disk could not record. Until it does, the cache serves none of the entries.
    func noteOverdue(_ removal: CacheIndex.Removal) {
        guard directory != nil else { return }
        overdue.insert(removal)
        if overdue.count > Self.overdueLimit { overdue = [.everything] }
    }

    /// Whether the entries on disk were removed.
    func isOverdue(_ removal: CacheIndex.Removal) -> Bool {
        overdue.contains(removal) || overdue.contains(.everything)
    }

    private func dropFromMemory(_ digest: String, unlessNamedIn other: Shelf) {
        guard memory.contains(digest), use(other, { try $0.references(digest) }) != true else { return }
        memory.remove(digest)
    }

    /// Keeps a body in memory. If another body of the session is evicted, its entries are removed too.
    func remember(_ data: Data, as digest: String) {
        for gone in memory.insert(data, for: digest) where use(.session, { try $0.references(gone) }) == true {
            change(.session) { try $0.remove(digest: gone) }
        }
    }

    private func index(_ shelf: Shelf) throws -> CacheIndex? {
        switch shelf {
        case .session:
            if session == nil { session = try CacheIndex.inMemory() }
            return session
        case .permanent:
            if let disk { return disk }
            guard let directory, nextOpening.map({ $0 <= .now }) ?? true else { return nil }
            // A failed attempt leaves this time in place.
            nextOpening = .now + .seconds(10)
            disk = try openIndex(in: directory)
            nextOpening = nil
            return disk
        }
    }

    private func openIndex(in directory: String) throws -> CacheIndex {
        try BodyFiles.makeDirectory(directory)
        for path in [files?.bodies, files?.unfinished].compactMap(\.self) { try BodyFiles.makeDirectory(path) }
        let lock = DirectoryLock(directory)
        defer { lock.unlock() }
        let path = "\(directory)/\(CacheIndex.fileName)"
        let index: CacheIndex
        do {
            index = try CacheIndex(path: path, busyTimeout: busyTimeout)
        } catch  where CacheIndex.isDamage(error) {
            setAside(path)
            index = try CacheIndex(path: path, busyTimeout: busyTimeout)
        }
        openFile = FileIdentity(path)
        return index
    }

    /// Renames a damaged index. The log is removed first, because SQLite would replay a remaining log into the new
    /// file.
    private func setAside(_ path: String) {
        for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
        let other = "\(path).damaged"
        if rename(path, other) != 0 { unlink(path) }
        report(.damagedIndex(setAside: other))
    }

    private func failed(_ error: any Error, _ shelf: Shelf) {
        if let error = error as? HTTPCacheError { return report(error) }
        guard shelf == .permanent, let directory else { return report(.index(path: ":memory:", error)) }
        let path = "\(directory)/\(CacheIndex.fileName)"
        let code = (error as? DatabaseError)?.resultCode
        if code == .SQLITE_FULL { return report(.noSpace(path: path)) }
        if CacheIndex.isDamage(error) {
            disk?.close()
            disk = nil
            let lock = DirectoryLock(directory)
            defer { lock.unlock() }
            // Another process may already have replaced the file.
            if FileIdentity(path) == openFile { setAside(path) }
            return
        }
        report(.index(path: path, error))
        // The problem of the file may be gone when the index is opened again.
        if code != .SQLITE_BUSY { disk = nil }
    }
}
