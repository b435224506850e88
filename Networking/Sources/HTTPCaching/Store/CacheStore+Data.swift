import Crypto
import Foundation
import HTTPCore

extension CacheStore {
    func data(forKey key: String, variant: String, now: Date) async -> Data? {
        for shelf in [Shelf.session, .permanent] where shelf == .session || !isOverdue(.data(key)) {
            guard let entry = use(shelf, { try $0.entry(.data, key: key, variant: variant) }) ?? nil,
                !isTooOld(entry, now), let body = body(of: entry, in: shelf)
            else { continue }
            _ = use(shelf) { try $0.used(entry.id, at: now) }
            do { return try await body.data() } catch { report(error) }
        }
        return nil
    }

    func store(
        _ data: Data, forKey key: String, variant: String, retention: HTTPCachePolicy.Retention, now: Date
    ) -> Bool {
        let digest = SHA256.hash(data: data).hexadecimal()
        let entry = CacheEntry(key: key, variant: variant, digest: digest, size: Int64(data.count), now: now)
        return commit(entry, .memory(data), in: shelf(retention), now: now)
    }

    /// Returns the number of entries and their size in bytes.
    func total() -> (count: Int, cost: Int64) {
        var sum: (count: Int, cost: Int64) = (0, 0)
        for shelf in [Shelf.session, .permanent] {
            guard let total = use(shelf, { try $0.total() }) else { continue }
            sum = (sum.count &+ total.count, sum.cost &+ total.cost)
        }
        return sum
    }

    func changeAll(_ body: (inout CacheIndex.Transaction) throws -> Void) {
        for shelf in [Shelf.session, .permanent] { change(shelf, body) }
    }

    /// Removes bodies from memory that are also on disk.
    func releaseMemory() {
        for digest in memory.digestsFromOldest where use(.session, { try $0.references(digest) }) != true {
            memory.remove(digest)
        }
    }
}
