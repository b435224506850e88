public import Foundation

extension HTTPCache {
    /// Returns the data stored under a key and variant, or nil. The call counts as a use of the entry, which delays its
    /// eviction.
    public func data(forKey key: String, variant: String = "", now: Date = Date()) async -> Data? {
        await store.data(forKey: key, variant: variant, now: now)
    }

    /// Stores data under a key of the program, independent of the addresses of responses.
    ///
    /// - Returns: Whether the cache now contains the data. The result is false if the data exceeds the limit or the
    ///   cache cannot write it.
    @discardableResult
    public func store(
        _ data: Data, forKey key: String, variant: String = "", retention: HTTPCachePolicy.Retention = .permanent,
        now: Date = Date()
    ) async -> Bool {
        await store.store(data, forKey: key, variant: variant, retention: retention, now: now)
    }

    /// Removes all variants of the data stored under a key.
    public func removeData(forKey key: String) async { await store.remove(.data(key)) }
}
