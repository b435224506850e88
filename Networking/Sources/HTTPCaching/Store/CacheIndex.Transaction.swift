import Foundation
import GRDB

extension CacheIndex {
    /// The entries to remove: all of them, all variants of the responses of an address, or all variants of data under a key. The
    /// index stores no responses to earlier requests than the removal of responses.
    enum Removal: Hashable { case everything, responses(String), data(String) }

    /// A transaction that changes the index. `unreferenced` lists the digests that no entry references any more.
    struct Transaction {
        private let db: Database
        private(set) var unreferenced: [String] = []

        init(_ db: Database) { self.db = db }

        /// A decodable row, because a row's subscript would trap on a damaged value.
        private struct Oldest: Decodable, FetchableRecord {
            let id: Int64
            let cost: Int64
            let digest: String
        }

        /// Stores an entry and removes the previous entry with the same key and variant.
        ///
        /// Returns nil if the index has a response that arrived later. The body of the entry only took longer then.
        mutating func store(_ entry: CacheEntry) throws -> Int64? {
            if let known = try CacheIndex.entry(entry.kind, key: entry.key, variant: entry.variant, db),
                known.isLaterResponse(than: entry)
            {
                try noteIfUnreferenced(entry.digest)
                return nil
            }
            try remove(entry.kind, key: entry.key, variant: entry.variant)
            try db.cachedStatement(
                sql: """
                    INSERT INTO entry (kind, key, variant, head, digest, size, cost, requestTime, responseTime,
                    staleTime, lastUse) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """
            ).execute(arguments: [
                entry.kind.rawValue, entry.key, entry.variant, entry.head, entry.digest, entry.size, entry.cost,
                entry.requestTime, entry.responseTime, entry.staleTime, entry.lastUse,
            ])
            return db.lastInsertedRowID
        }

        /// Changes the head and the times of an entry, if the entry still exists.
        func update(_ entry: CacheEntry) throws {
            try db.cachedStatement(
                sql: """
                    UPDATE entry SET head = ?, cost = ?, requestTime = ?, responseTime = ?, staleTime = ?,
                    lastUse = max(lastUse, ?) WHERE id = ?
                    """
            ).execute(arguments: [
                entry.head, entry.cost, entry.requestTime, entry.responseTime, entry.staleTime, entry.lastUse, entry.id,
            ])
        }

        mutating func remove(_ removal: Removal) throws {
            switch removal {
            case .everything: try removeAll()
            case .responses(let key): try invalidate(key)
            case .data(let key): try remove(.data, key: key)
            }
        }

        mutating func remove(_ id: Int64) throws { try remove(where: "id = ?", [id]) }

        mutating func remove(_ kind: CacheEntry.Kind, key: String) throws {
            try remove(where: "kind = ? AND key = ?", [kind.rawValue, key])
        }

        mutating func remove(_ kind: CacheEntry.Kind, key: String, variant: String) throws {
            try remove(where: "kind = ? AND key = ? AND variant = ?", [kind.rawValue, key, variant])
        }

        mutating func remove(digest: String) throws { try remove(where: "digest = ?", [digest]) }

        /// Removes the entries whose arrival and last validation were before a date.
        mutating func remove(before date: Date) throws {
            try remove(where: "responseTime < ?", [date.timeIntervalSince1970])
        }

        mutating func removeStale(at date: Date) throws {
            try remove(where: "staleTime <= ?", [date.timeIntervalSince1970])
        }

        mutating func removeAll() throws {
            try remove(where: "1", [])
            try noteInvalidation(of: CacheIndex.everything)
        }

        // MARK: - Invalidation

        /// Removes the responses of an address. The index will not store responses to earlier requests.
        mutating func invalidate(_ key: String) throws {
            try remove(.response, key: key)
            try noteInvalidation(of: key)
        }

        /// Records an invalidation and keeps only the latest ones. The index does not store a response whose request is
        /// older than all recorded invalidations.
        private func noteInvalidation(of key: String) throws {
            try db.cachedStatement(sql: "INSERT OR REPLACE INTO invalidation (key) VALUES (?)").execute(arguments: [key]
            )
            try db.cachedStatement(sql: "DELETE FROM invalidation WHERE number <= ?")
                .execute(arguments: [db.lastInsertedRowID - CacheIndex.keptInvalidations])
        }

        /// Returns whether the index may store a response. The result is false if the address was invalidated after the
        /// request. The ticket is nil for data, which invalidations do not affect.
        func admits(_ key: String, since ticket: CacheTicket?) throws -> Bool {
            guard let ticket else { return true }
            let last = try CacheIndex.lastInvalidation(db)
            // A number above the last number comes from a damaged index with another count.
            guard let number = ticket.number, number <= last, last - number <= CacheIndex.keptInvalidations else {
                return false
            }
            let sql = "SELECT EXISTS (SELECT 1 FROM invalidation WHERE number > ? AND key IN (?, ?))"
            let isInvalidated = try Bool.fetchOne(
                db.cachedStatement(sql: sql), arguments: [number, key, CacheIndex.everything])
            return isInvalidated == false
        }

        // MARK: -

        func has(_ id: Int64) throws -> Bool {
            try Bool.fetchOne(
                db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM entry WHERE id = ?)"), arguments: [id]) ?? false
        }

        func references(_ digest: String) throws -> Bool { try CacheIndex.references(digest, db) }

        /// Removes the least recently used entries until nine tenths of the limit remain, if the entries exceed the
        /// limit. The method never removes the entry `kept`.
        mutating func trim(to limit: Int64, keeping kept: Int64?) throws {
            guard var cost = try Int64.fetchOne(db, sql: "SELECT cost FROM total"), cost > limit else { return }
            let target = limit / 10 * 9
            let sql = "SELECT id, cost, digest FROM entry WHERE id IS NOT ? ORDER BY lastUse, id LIMIT 64"
            while cost > target {
                let oldest = try Oldest.fetchAll(db.cachedStatement(sql: sql), arguments: [kept])
                if oldest.isEmpty { return }
                for entry in oldest where cost > target {
                    try db.cachedStatement(sql: "DELETE FROM entry WHERE id = ?").execute(arguments: [entry.id])
                    cost &-= entry.cost
                    try noteIfUnreferenced(entry.digest)
                }
            }
        }

        private mutating func remove(where condition: String, _ arguments: StatementArguments) throws {
            let digests = try String.fetchAll(
                db, sql: "SELECT DISTINCT digest FROM entry WHERE \(condition)", arguments: arguments)
            guard !digests.isEmpty else { return }
            try db.execute(sql: "DELETE FROM entry WHERE \(condition)", arguments: arguments)
            for digest in digests { try noteIfUnreferenced(digest) }
        }

        private mutating func noteIfUnreferenced(_ digest: String) throws {
            if try !references(digest) { unreferenced.append(digest) }
        }
    }
}
