import Dispatch
public import Foundation

// The implementation and the tests of each rule:
//
// | Rule | Implementation | Tests |
// | --- | --- | --- |
// | RFC 9111 §5.2, directives | `CacheControl` | `CacheControlTests` |
// | RFC 9110 §5.6.7, dates | `HTTPDate` | `HTTPDateTests` |
// | §4.2, age, freshness and heuristics | `Freshness` | `FreshnessTests` |
// | §3, storing; §4.4, invalidation | `Storability`, `Invalidation` | `StorabilityTests` |
// | §4.1, `Vary`; credentials | `Variance` | `VarianceTests` |
// | §3.1, §3.2, §4.3, validation, HEAD | `StoredResponse` | `StoredResponseTests` |
// | §4, serving; RFC 5861; policies | `CacheDecision` | `CacheDecisionTests` |
// | the complete cache | `CacheStore` | `HTTPCacheTests`, `HTTPCacheContentsTests` |
// | eviction by size and age | `CacheIndex`, `MemoryBodies` | `EvictionTests`, `MemoryBodiesTests` |
// | crashes, two processes, damage | `CacheStep`, `BodyFiles` | `CacheCrashTests`, `CacheDamageTests` |

/// A private HTTP cache (RFC 9111) in memory and on disk. The cache also stores data that a program derives from responses,
/// such as scaled images, under the same limits.
///
/// Two processes can use one directory at the same time, and either process can be killed at any moment. A damaged file, a
/// full disk or a read-only directory reduces the number of stored responses, but never causes a request to fail. The cache
/// reports such problems to `onError`.
///
/// Only the owner can read the files. The cache does not use a directory or a file of another user, because that user could
/// insert responses. The parent directories must be trustworthy. The cache compares the digest of each body of up to 256 KiB
/// when it reads the body from disk. For larger bodies the cache compares only the length.
///
/// All methods are safe to call from any task. The cache performs blocking disk operations on its own threads.
public final class HTTPCache: Sendable {
    let store: CacheStore
    let writing = DiskExecutor("HTTPCache.writing")
    /// Removes the remains of crashes when the cache opens.
    private let opening: Task<Void, Never>

    /// Opens a cache, and creates its directory if necessary.
    ///
    /// - Parameters:
    ///   - directory: The directory, which only caches may use. The initializer creates missing directories for the
    ///     owner only. An existing directory must belong to the user of this process, and the initializer removes the
    ///     write permission of other users.
    ///   - memoryLimit: The maximum size of the bodies in memory, in bytes.
    ///   - diskLimit: The maximum size on disk, in bytes. Above the limit the cache evicts the least recently used
    ///     entries until nine tenths of the limit remain.
    ///   - ageLimit: The maximum age of an entry, counted from its arrival or its last validation.
    ///   - synchronises: Whether the cache flushes each body to disk before it stores the body, which is slow. If
    ///     false, a power failure can damage bodies that were stored shortly before. A crash of the process cannot.
    ///   - onError: A function that receives each problem. The cache calls the function on an arbitrary thread, one
    ///     call at a time.
    /// - Throws: `unusableDirectory` if the directory does not exist and cannot be created, and `foreignOwner` if the
    ///   directory belongs to another user.
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

    /// Creates a cache in the memory of this process.
    ///
    /// - Parameters:
    ///   - limit: The maximum size of the bodies, in bytes.
    ///   - ageLimit: The maximum age of an entry, counted from its arrival or its last validation.
    public static func inMemory(limit: Int = 32 << 20, ageLimit: Duration? = nil) -> HTTPCache {
        HTTPCache(
            CacheStore(
                directory: nil, limits: .init(memory: max(0, limit), disk: 0, age: ageLimit?.seconds),
                synchronises: false, step: { _ in }, report: { _ in }))
    }

    /// Opens a cache with a hook that runs after each step of storing a body.
    ///
    /// - Parameter busyTimeout: The time limit for waiting until another cache releases the index, in seconds.
    package convenience init(
        _ directory: String, memoryLimit: Int, diskLimit: Int, ageLimit: Duration? = nil, synchronises: Bool = false,
        busyTimeout: Double = 2, step: @escaping CacheStepHook, onError: (@Sendable (HTTPCacheError) -> Void)? = nil
    ) throws(HTTPCacheError) {
        guard !directory.isEmpty else { throw .unusableDirectory(path: directory, code: ENOENT) }
        // The process may change its working directory while the cache is open.
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

    /// Starts the removal of unfinished files. A file has lost its writer if it is not locked and has not changed for a
    /// minute.
    private init(_ store: CacheStore) {
        self.store = store
        opening = Task.detached(priority: .utility) { await store.sweep(unfinishedAge: 60, now: Date()) }
    }

    /// Waits until the remains of crashes are removed.
    package func opened() async { await opening.value }

    /// Removes unfinished files with another minimum age. Tests use the method to avoid a wait of a minute.
    package func sweep(unfinishedAge: Double) async { await store.sweep(unfinishedAge: unfinishedAge, now: Date()) }

    // MARK: - Contents

    /// The number of entries, both responses and data.
    public var count: Int { get async { await store.total().count } }

    /// The size of all entries in bytes: the bodies, the heads, and 256 bytes for each entry.
    public var size: Int64 { get async { await store.total().cost } }

    /// Removes all entries. The cache does not store responses to earlier requests when they arrive later.
    public func removeAll() async { await store.remove(.everything) }

    /// Removes all variants of the responses from an absolute URL. The method normalizes the URL and ignores text that
    /// is not an absolute `http` or `https` URL. The cache does not store responses to earlier requests for the URL
    /// when they arrive later.
    public func remove(_ url: String) async {
        guard let target = TargetURI(url) else { return }
        await store.remove(.responses(target.key))
    }

    /// Removes the responses that are not fresh at the given time.
    public func removeStale(at now: Date = Date()) async { await store.changeAll { try $0.removeStale(at: now) } }

    /// Removes the entries whose arrival and last validation were before a date.
    public func remove(before date: Date) async { await store.changeAll { try $0.remove(before: date) } }

    /// Releases the memory of bodies that are also on disk.
    public func releaseMemory() async { await store.releaseMemory() }
}
