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
                let exists = try database.tableExists("durable_meta", in: "main")
                var version = exists ? try number("schema", database) ?? 1 : 0
                try checkVersion(oldest: exists ? number("oldest_reader", database).map(Int64.init) : nil, database)
                while version < Schema.version {
                    try database.execute(sql: Schema.migrations[version])
                    version += 1
                    try database.execute(
                        sql: "INSERT OR REPLACE INTO durable_meta(name, value) VALUES ('schema', ?)",
                        arguments: [version])
                }
                identity =
                    try String.fetchOne(database, sql: "SELECT value FROM main.durable_meta WHERE name = 'store'") ?? ""
                return .commit
            }
            return identity
        }
    }

    /// Returns the identity of the database, without the write lock.
    ///
    /// - Throws: `DurableError.newerSchema`, `olderSchema` or `noSchema`.
    static func find(_ writer: DatabaseQueue) async throws -> String {
        try await writer.writeWithoutTransaction { database in
            guard try database.tableExists("durable_meta", in: "main") else { throw DurableError.noSchema }
            let version = try number("schema", database) ?? 1
            try checkVersion(oldest: number("oldest_reader", database).map(Int64.init), database)
            try checkAge(of: version)
            return try String.fetchOne(database, sql: "SELECT value FROM main.durable_meta WHERE name = 'store'") ?? ""
        }
    }

    /// - Throws: `DurableError.olderSchema`.
    static func checkAge(of version: Int) throws(DurableError) {
        if version < Schema.version { throw .olderSchema(found: version, supported: Schema.version) }
    }

    /// Checks that the schema permits this version of the library.
    ///
    /// - Parameter oldest: The oldest version that may use the schema; nil in schemas of version 1.
    /// - Throws: `DurableError.newerSchema`.
    static func checkVersion(oldest: Int64?, _ database: Database) throws {
        guard let oldest, oldest > Schema.version else { return }
        let found = try number("schema", database) ?? Int(oldest)
        throw DurableError.newerSchema(found: found, supported: Schema.version)
    }

    private static func number(_ name: String, _ database: Database) throws -> Int? {
        try Int.fetchOne(database, sql: "SELECT value FROM main.durable_meta WHERE name = ?", arguments: [name])
    }
}
