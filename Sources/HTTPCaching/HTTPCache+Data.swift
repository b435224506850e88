#if Networking
public import Foundation

extension HTTPCache {
    /// What was stored under a key and variant. Using it keeps it from being evicted.
    public func data(forKey key: String, variant: String = "", now: Date = Date()) async -> Data? {
        await store.data(forKey: key, variant: variant, now: now)
    }

    /// Stores data under a key of the program's own, which has nothing to do with the address of a response. Answers whether
    /// it is there now: not if it is larger than the limit or cannot be written.
    @discardableResult
    public func store(
        _ data: Data, forKey key: String, variant: String = "", retention: HTTPCachePolicy.Retention = .permanent,
        now: Date = Date()
    ) async -> Bool {
        await store.store(data, forKey: key, variant: variant, retention: retention, now: now)
    }

    /// Removes what is stored under a key, of all variants.
    public func removeData(forKey key: String) async { await store.remove(.data, key: key) }
}
#endif
