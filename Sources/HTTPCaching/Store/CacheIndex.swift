#if Networking
import Foundation
import GRDB

/// The entries: which body answers what, when it came and when it was used last. In a SQLite file that processes share,
/// or in memory. Every method blocks.
final class CacheIndex {
    private let database: DatabaseQueue
    /// Uses that are not written yet, by entry. Written with the next change, so that reading need not write.
    private var uses: [Int64: Double] = [:]
    static let mostUses = 256
    /// The number changes with the tables; so an older program and a newer one do not share an index.
    static let fileName = "index-1.sqlite"

    private init(_ database: DatabaseQueue) throws {
        self.database = database
        try database.write { try Self.createTables($0) }
    }

    static func inMemory() throws -> CacheIndex { try CacheIndex(DatabaseQueue()) }

    /// - Parameter busyTimeout: Seconds to wait for another process, or cache, that has the file.
    init(path: String, busyTimeout: Double) throws {
        var configuration = Configuration()
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(busyTimeout)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
        // SQLite reads the log as if it were the file.
        for suffix in ["", "-wal", "-shm"] { try BodyFiles.checkOwner(path + suffix) }
        try Self.prepareFile(path)
        database = try DatabaseQueue(path: path, configuration: configuration)
        try database.write { try Self.createTables($0) }
    }

    /// Makes the file, for its owner alone: SQLite takes the mode of its further files from it.
    ///
    /// A file that is there is not opened. Closing it would take every lock of this process off it, those of another
    /// cache here too: another process would then take itself for the last one, and remove what that cache writes to.
    private static func prepareFile(_ path: String) throws {
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            fchmod(descriptor, 0o600)
            Foundation.close(descriptor)
            return
        }
        var status = stat()
        guard errno == EEXIST, lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw HTTPCacheError.writing(path)
        }
        if status.st_mode & 0o777 != 0o600 { chmod(path, 0o600) }
    }

    private static func createTables(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS entry (
                    id INTEGER PRIMARY KEY AUTOINCREMENT, kind INTEGER NOT NULL, key TEXT NOT NULL,
                    variant TEXT NOT NULL, head BLOB NOT NULL, digest TEXT NOT NULL, size INTEGER NOT NULL,
                    cost INTEGER NOT NULL, requestTime REAL NOT NULL, responseTime REAL NOT NULL,
                    staleTime REAL NOT NULL, lastUse REAL NOT NULL, UNIQUE (kind, key, variant));
                CREATE INDEX IF NOT EXISTS byDigest ON entry (digest);
                CREATE INDEX IF NOT EXISTS byUse ON entry (lastUse, id);
                CREATE INDEX IF NOT EXISTS byTime ON entry (responseTime);
                CREATE TABLE IF NOT EXISTS invalidation (
                    number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE);
                CREATE TABLE IF NOT EXISTS total (id INTEGER PRIMARY KEY, count INTEGER NOT NULL, cost INTEGER NOT NULL);
                INSERT OR REPLACE INTO total SELECT 1, count(*), coalesce(sum(cost), 0) FROM entry;
                CREATE TRIGGER IF NOT EXISTS added AFTER INSERT ON entry BEGIN
                    UPDATE total SET count = count + 1, cost = cost + NEW.cost; END;
                CREATE TRIGGER IF NOT EXISTS removed AFTER DELETE ON entry BEGIN
                    UPDATE total SET count = count - 1, cost = cost - OLD.cost; END;
                CREATE TRIGGER IF NOT EXISTS changed AFTER UPDATE OF cost ON entry BEGIN
                    UPDATE total SET cost = cost + NEW.cost - OLD.cost; END;
                """)
    }

    /// Whether an error means that the file is no index of ours, or no more. (SQL that is constant has no errors of its own.)
    static func isDamage(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return error is RowDecodingError || error is DecodingError }
        return [.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_SCHEMA, .SQLITE_CONSTRAINT]
            .contains(error.resultCode)
    }

    func close() { try? database.close() }

    // MARK: - Reading

    func entries(_ kind: CacheEntry.Kind, key: String) throws -> [CacheEntry] {
        try database.read { db in
            try CacheEntry.fetchAll(
                db.cachedStatement(sql: "SELECT * FROM entry WHERE kind = ? AND key = ?"),
                arguments: [kind.rawValue, key])
        }
    }

    func entry(_ kind: CacheEntry.Kind, key: String, variant: String) throws -> CacheEntry? {
        try database.read { db in
            try CacheEntry.fetchOne(
                db.cachedStatement(sql: "SELECT * FROM entry WHERE kind = ? AND key = ? AND variant = ?"),
                arguments: [kind.rawValue, key, variant])
        }
    }

    /// Number of entries, and what they count for in bytes.
    func total() throws -> (count: Int, cost: Int64) {
        try database.read { db in
            let total = try Total.fetchOne(db, sql: "SELECT count, cost FROM total")
            return (total?.count ?? 0, total?.cost ?? 0)
        }
    }

    private struct Total: Decodable, FetchableRecord {
        let count: Int
        let cost: Int64
    }

    func references(_ digest: String) throws -> Bool {
        try database.read { try Self.references(digest, $0) }
    }

    static func references(_ digest: String, _ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM entry WHERE digest = ?)"), arguments: [digest])
            ?? false
    }

    /// How many invalidations are known. An answer that is under way while so many others come is not stored.
    static let keptInvalidations: Int64 = 1000
    /// The key of an invalidation of all.
    static let everything = ""

    /// Its number, which grows with each; 0 before the first.
    func lastInvalidation() throws -> Int64 { try database.read { try Self.lastInvalidation($0) } }

    static func lastInvalidation(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(db.cachedStatement(sql: "SELECT max(number) FROM invalidation")) ?? 0
    }

    /// The entry was used. Costs a write only now and then.
    func used(_ id: Int64, at now: Date) throws {
        uses[id] = now.timeIntervalSince1970
        if uses.count >= Self.mostUses { try change { _ in } }
    }

    // MARK: - Changing

    /// Changes in one transaction, in which no other process changes anything.
    func change<Value>(_ body: (inout Transaction) throws -> Value) throws -> Value {
        let value = try database.write { db in
            for (id, time) in uses {
                try db.cachedStatement(sql: "UPDATE entry SET lastUse = max(lastUse, ?) WHERE id = ?")
                    .execute(arguments: [time, id])
            }
            var transaction = Transaction(db)
            return try body(&transaction)
        }
        uses = [:]
        return value
    }
}
#endif
