import Foundation
import GRDB

/// The index of entries with their bodies and times. The index is a SQLite file that several processes share, or a
/// database in memory. Every method blocks.
final class CacheIndex {
    private let database: DatabaseQueue
    /// The times of uses that are not yet written, by entry. The next change writes them, so that a read needs no
    /// write.
    private var uses: [Int64: Double] = [:]
    static let mostUses = 256
    /// The file name. The number changes with the tables, so that different versions of the program do not share an
    /// index.
    static let fileName = "index-1.sqlite"

    private init(_ database: DatabaseQueue) throws {
        self.database = database
        try database.write { try Self.createTables($0) }
    }

    /// Creates an index in memory.
    static func inMemory() throws -> CacheIndex { try CacheIndex(DatabaseQueue()) }

    /// - Parameter busyTimeout: The time limit for waiting until another process or cache releases the file, in
    ///   seconds.
    init(path: String, busyTimeout: Double) throws {
        var configuration = Configuration()
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(busyTimeout)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
        // SQLite trusts the log file as much as the database file, so that the owner of each file matters.
        for suffix in ["", "-wal", "-shm"] { try BodyFiles.checkOwner(path + suffix) }
        try Self.prepareFile(path)
        database = try DatabaseQueue(path: path, configuration: configuration)
        try database.write { try Self.createTables($0) }
    }

    /// Creates the file with access for the owner only. SQLite copies the mode to its additional files.
    ///
    /// The function does not open an existing file. Closing the file would release all locks of this process on the
    /// file, including the locks of another cache in the process. Another process could then consider itself the last
    /// user and remove the log that the other cache still writes.
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

    /// Returns whether an error means that the file is not a valid index. The SQL statements are constant and cause no
    /// errors themselves.
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
        try database.read { try Self.entry(kind, key: key, variant: variant, $0) }
    }

    static func entry(
        _ kind: CacheEntry.Kind, key: String, variant: String, _ db: Database
    ) throws -> CacheEntry? {
        try CacheEntry.fetchOne(
            db.cachedStatement(sql: "SELECT * FROM entry WHERE kind = ? AND key = ? AND variant = ?"),
            arguments: [kind.rawValue, key, variant])
    }

    /// Returns the number of entries and their size in bytes.
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

    /// The number of recorded invalidations. The index does not store a response if this many other invalidations occur
    /// before it arrives.
    static let keptInvalidations: Int64 = 1000
    /// The key of an invalidation of all responses.
    static let everything = ""

    /// Returns the number of the last invalidation, or 0 before the first. The number grows with each invalidation.
    func lastInvalidation() throws -> Int64 { try database.read { try Self.lastInvalidation($0) } }

    static func lastInvalidation(_ db: Database) throws -> Int64 {
        try Int64.fetchOne(db.cachedStatement(sql: "SELECT max(number) FROM invalidation")) ?? 0
    }

    /// Records a use of the entry. Only every 256th use at most causes a write.
    func used(_ id: Int64, at now: Date) throws {
        uses[id] = now.timeIntervalSince1970
        if uses.count >= Self.mostUses { try change { _ in } }
    }

    // MARK: - Changing

    /// Performs changes in one transaction, which excludes changes by other processes.
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
