#if Networking
import Dispatch
public import Foundation

/// A private HTTP cache (RFC 9111) in memory and on disk, and a store of what is derived from responses, as images of a
/// size, under the same limits (rules C1, C2).
///
/// Two processes may use one directory, and any of them may be killed at any moment. A file that is damaged, a disk that is
/// full, or a directory that cannot be written to makes the cache keep less, never a request fail; `onError` tells of it.
/// Files are readable by their owner alone. A directory, or a file in it, that belongs to another user is not used: that
/// user could put in answers. The directories above it have to be trustworthy. Bodies of up to 256 KiB are compared with their digest when they are read from
/// disk, larger ones by their length only.
///
/// Methods may be called from anywhere. They wait for the disk on threads of the cache's own.
///
/// Where the rules are, and where they are shown:
///
/// | Rule | Decided by | Tests |
/// | --- | --- | --- |
/// | RFC 9111 §5.2, directives | `CacheControl` | `CacheControlTests` |
/// | RFC 9110 §5.6.7, dates | `HTTPDate` | `HTTPDateTests` |
/// | §4.2, age, freshness and heuristics | `Freshness` | `FreshnessTests` |
/// | §3, what is stored; §4.4, invalidation | `Storability`, `Invalidation` | `StorabilityTests` |
/// | §4.1, `Vary`; credentials | `Variance` | `VarianceTests` |
/// | §3.1, §3.2, §4.3, validation, HEAD | `StoredResponse` | `StoredResponseTests` |
/// | §4, serving; RFC 5861; policies (C2) | `CacheDecision` | `CacheDecisionTests` |
/// | C1, the whole of it | `CacheStore` | `HTTPCacheTests`, `HTTPCacheContentsTests` |
/// | C1, LRU by size and age | `CacheIndex`, `MemoryBodies` | `EvictionTests`, `MemoryBodiesTests` |
/// | C1, crashes, two processes, damage | `CacheStep`, `BodyFiles` | `CacheCrashTests`, `CacheDamageTests` |
public final class HTTPCache: Sendable {
    let store: CacheStore
    let writing = DiskExecutor("HTTPCache.writing")
    /// Removes at opening what crashes have left.
    private let opening: Task<Void, Never>

    /// Opens a cache, which is made if it is not there.
    ///
    /// - Parameters:
    ///   - directory: Of the cache alone. Made with those above it, for its owner only. If it is there, it has to belong to
    ///     this process's user; others lose the right to write to it.
    ///   - memoryLimit: Bytes of bodies kept in memory.
    ///   - diskLimit: Bytes on disk. Above it the entries that were not used for longest go, down to nine tenths.
    ///   - ageLimit: Entries go so long after they came or were last found valid.
    ///   - synchronises: Whether each body is forced to disk before it has its name, which is slow. Without it, a power
    ///     failure (not a crash) may damage bodies that were stored just before.
    ///   - onError: Called, on no thread in particular and one call after the other, with what went wrong.
    /// - Throws: `unusableDirectory` if there is no such directory and it cannot be made; `foreignOwner` if it belongs to
    ///   another user.
    public convenience init(
        directory: String, memoryLimit: Int = 32 << 20, diskLimit: Int = 512 << 20, ageLimit: Duration? = nil,
        synchronises: Bool = false, onError: (@Sendable (HTTPCacheError) -> Void)? = nil
    ) throws(HTTPCacheError) {
        try self.init(
            directory, memoryLimit: memoryLimit, diskLimit: diskLimit, ageLimit: ageLimit, synchronises: synchronises,
            step: { _ in }, onError: onError)
    }

    /// Opens a cache in the directory of a file URL.
    public convenience init(
        directory: URL, memoryLimit: Int = 32 << 20, diskLimit: Int = 512 << 20, ageLimit: Duration? = nil,
        synchronises: Bool = false, onError: (@Sendable (HTTPCacheError) -> Void)? = nil
    ) throws(HTTPCacheError) {
        guard directory.isFileURL else { throw .unusableDirectory(path: directory.absoluteString, code: ENOTDIR) }
        try self.init(
            directory: directory.path, memoryLimit: memoryLimit, diskLimit: diskLimit, ageLimit: ageLimit,
            synchronises: synchronises, onError: onError)
    }

    /// A cache of this process alone, of so many bytes.
    public static func inMemory(limit: Int = 32 << 20, ageLimit: Duration? = nil) -> HTTPCache {
        HTTPCache(
            CacheStore(
                directory: nil, limits: .init(memory: max(0, limit), disk: 0, age: ageLimit?.seconds),
                synchronises: false, step: { _ in }, report: { _ in }))
    }

    /// With a hook after each step of storing.
    ///
    /// - Parameter busyTimeout: Seconds to wait for another cache that has the index.
    package convenience init(
        _ directory: String, memoryLimit: Int, diskLimit: Int, ageLimit: Duration? = nil, synchronises: Bool = false,
        busyTimeout: Double = 2, step: @escaping CacheStepHook, onError: (@Sendable (HTTPCacheError) -> Void)? = nil
    ) throws(HTTPCacheError) {
        guard !directory.isEmpty else { throw .unusableDirectory(path: directory, code: ENOENT) }
        // The process may go elsewhere while the cache is open.
        let directory =
            directory.hasPrefix("/") ? directory : "\(FileManager.default.currentDirectoryPath)/\(directory)"
        try BodyFiles.makeDirectory(directory)
        let reports = DispatchQueue(label: "HTTPCache.reports")
        self.init(
            CacheStore(
                directory: directory,
                limits: .init(memory: max(0, memoryLimit), disk: Int64(max(0, diskLimit)), age: ageLimit?.seconds),
                synchronises: synchronises, busyTimeout: busyTimeout, step: step,
                report: { error in if let onError { reports.async { onError(error) } } }))
    }

    /// A file that is being written and has not changed for a minute has lost its writer, if nobody holds its lock.
    private init(_ store: CacheStore) {
        self.store = store
        opening = Task.detached(priority: .utility) { await store.sweep(unfinishedAge: 60, now: Date()) }
    }

    /// Returns when what crashes have left is removed.
    package func opened() async { await opening.value }

    /// For tests, which do not wait a minute.
    package func sweep(unfinishedAge: Double) async { await store.sweep(unfinishedAge: unfinishedAge, now: Date()) }

    // MARK: - Contents

    /// Number of entries, responses and data.
    public var count: Int { get async { await store.total().count } }

    /// What the entries count for, in bytes: bodies, heads, and 256 each.
    public var size: Int64 { get async { await store.total().cost } }

    /// Removes everything. An answer to an earlier request is not kept when it comes.
    public func removeAll() async { await store.changeAll { try $0.removeAll() } }

    /// Removes the responses from an absolute URL, written in any form, of all variants. An answer to an
    /// earlier request is not kept when it comes. No effect for what is no absolute `http` or `https` URL.
    public func remove(_ url: String) async {
        guard let target = TargetURI(url) else { return }
        await store.invalidate(target.key)
    }

    /// Removes the responses that are not fresh.
    public func removeStale(at now: Date = Date()) async { await store.changeAll { try $0.removeStale(at: now) } }

    /// Removes what came, or was last found valid, before a date.
    public func remove(before date: Date) async { await store.changeAll { try $0.remove(before: date) } }

    /// Gives back the memory of bodies that are on disk too.
    public func releaseMemory() async { await store.releaseMemory() }
}
#endif
