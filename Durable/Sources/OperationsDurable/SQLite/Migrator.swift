import DurableCore
import GRDB

/// The migrations of the schema. Each migration runs in a transaction that holds the write lock.
enum Migrator {
    /// Migrates the schema, and returns the identity of the database.
    ///
    /// A newer schema is accepted if the newer version declares that this version of the library may use it.
    ///
    /// - Throws: `DurableError.newerSchema`.
    static func migrate(_ writer: DatabaseQueue) async throws -> String {
        try await writer.writeWithoutTransaction { database in
            var identity = ""
            try database.inTransaction(.immediate) {
                let exists = try database.tableExists("durable_meta")
                var version = exists ? try number("schema", database) ?? 1 : 0
                if version > Schema.version {
                    let oldest = try number("oldest_reader", database) ?? version
                    if oldest > Schema.version {
                        throw DurableError.newerSchema(found: version, supported: Schema.version)
                    }
                }
                while version < Schema.version {
                    try database.execute(sql: Schema.migrations[version])
                    version += 1
                    try database.execute(
                        sql: "INSERT OR REPLACE INTO durable_meta(name, value) VALUES ('schema', ?)",
                        arguments: [version])
                }
                identity =
                    try String.fetchOne(database, sql: "SELECT value FROM durable_meta WHERE name = 'store'") ?? ""
                return .commit
            }
            return identity
        }
    }

    private static func number(_ name: String, _ database: Database) throws -> Int? {
        try Int.fetchOne(database, sql: "SELECT value FROM durable_meta WHERE name = ?", arguments: [name])
    }
}
