#if Networking
import Foundation
import GRDB

/// Where a cache keeps things: entries and bodies on disk, entries and bodies of this process alone, and the bodies in
/// memory that were used last. Everything that blocks on the index happens here, on a queue of its own.
actor CacheStore {
    struct Limits: Sendable {
        /// Bytes of bodies in memory.
        var memory: Int
        /// Bytes on disk: bodies, heads, and `CacheEntry.overhead` each.
        var disk: Int64
        /// Seconds since a response came or was found valid.
        var age: Double?
    }

    /// A cache without a directory has no permanent one.
    enum Shelf: Sendable { case session, permanent }

    private let executor = DiskExecutor("HTTPCache.index")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    nonisolated let limits: Limits
    private let busyTimeout: Double
    nonisolated let directory: String?
    nonisolated let files: BodyFiles?
    nonisolated let step: CacheStepHook
    nonisolated let report: @Sendable (HTTPCacheError) -> Void

    private var disk: CacheIndex?
    private var session: CacheIndex?
    var memory: MemoryBodies
    /// Of the index file that is open, to know it from one that has taken its name since.
    private var openFile: FileIdentity?
    /// When to try again after the index could not be opened.
    private var nextOpening: ContinuousClock.Instant?

    /// Larger bodies are read from their file piece by piece, and do not come to the memory of a cache on disk.
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

    /// Where an entry goes that is to be retained so.
    nonisolated func shelf(_ retention: HTTPCachePolicy.Retention) -> Shelf {
        directory == nil || retention == .session ? .session : .permanent
    }

    nonisolated func limit(_ shelf: Shelf) -> Int64 { shelf == .session ? Int64(limits.memory) : limits.disk }

    // MARK: - The indexes

    /// What a body does with an index. If it cannot, that is reported, and the answer is nil.
    func use<Value>(_ shelf: Shelf, _ body: (CacheIndex) throws -> Value) -> Value? {
        do {
            guard let index = try index(shelf) else { return nil }
            return try body(index)
        } catch {
            failed(error, shelf)
            return nil
        }
    }

    /// Changes an index, and removes the bodies that no entry names any more before other processes may change it: else
    /// one of them might name such a body again, and lose it.
    @discardableResult
    func change<Value>(_ shelf: Shelf, _ body: (inout CacheIndex.Transaction) throws -> Value) -> Value? {
        var gone: [String] = []
        let value = use(shelf) { index in
            try index.change { transaction in
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
        for digest in gone { dropFromMemory(digest, unlessNamedIn: shelf == .session ? .permanent : .session) }
        return value
    }

    private func dropFromMemory(_ digest: String, unlessNamedIn other: Shelf) {
        guard memory.contains(digest), use(other, { try $0.references(digest) }) != true else { return }
        memory.remove(digest)
    }

    /// Keeps a body in memory; entries of the session whose bodies had to go for it are gone.
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
            // Until it has opened.
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

    /// The log first: left behind, it would be replayed into the new file.
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
            // Another process may have put a new one there already.
            if FileIdentity(path) == openFile { setAside(path) }
            return
        }
        report(.index(path: path, error))
        // What has happened to its file may be over when it is opened anew.
        if code != .SQLITE_BUSY { disk = nil }
    }
}
#endif
