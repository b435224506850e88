#if Postgres
import DurableCore

/// The migrations of the schema. One transaction makes all of them, under the lock of writing transactions.
enum PostgresMigrator {
    /// Migrates the schema, and returns the identity of the database.
    ///
    /// A newer schema is accepted if the newer version declares that this version of the library may use it.
    ///
    /// - Throws: `DurableError.newerSchema`, or `PostgresFailure`.
    static func migrate(_ connection: PostgresConnection) throws -> String {
        try connection.execute("BEGIN")
        do {
            var key = PostgresParameters()
            key.append(connection.lockKey)
            try connection.run(.migrationLock, key)
            let exists = try connection.run(.exists).first?.int(0) == 1
            var version = 0
            if exists {
                version = Int(try number("schema", connection) ?? 1)
                try checkVersion(oldest: try number("oldest_reader", connection), connection)
            }
            try connection.executeAll(connection.settings.settingMigrationPath)
            while version < PostgresSchema.version {
                try connection.execute(PostgresSchema.migrations[version], isLimited: false)
                version += 1
                var names = PostgresArray(.text)
                names.append("schema")
                var parameters = PostgresParameters()
                parameters.append(names)
                parameters.append(PostgresArray(CollectionOfOne(Int64(version))))
                try connection.run(.setNumbers, parameters)
            }
            let identity = try connection.run(.identity).first?.text(0) ?? ""
            try connection.commit()
            connection.setIdentity(identity)
            return identity
        } catch {
            try? connection.rollBack()
            throw error
        }
    }

    /// Returns the identity of the database, without the lock of writing transactions.
    ///
    /// - Throws: `DurableError.newerSchema`, `olderSchema` or `noSchema`, or `PostgresFailure`.
    static func find(_ connection: PostgresConnection) throws -> String {
        guard try connection.run(.exists).first?.int(0) == 1 else { throw DurableError.noSchema }
        let version = try number("schema", connection) ?? 1
        try checkVersion(oldest: try number("oldest_reader", connection), connection)
        if version < PostgresSchema.version {
            throw DurableError.olderSchema(found: Int(version), supported: PostgresSchema.version)
        }
        let identity = try connection.run(.identity).first?.text(0) ?? ""
        connection.setIdentity(identity)
        return identity
    }

    /// Reads the version of the schema, and checks that it permits this version of the library. Does nothing if the version cannot be
    /// read.
    ///
    /// - Throws: `DurableError.newerSchema`.
    static func checkVersion(_ connection: PostgresConnection) throws {
        guard let oldest = try? number("oldest_reader", connection) else { return }
        try checkVersion(oldest: oldest, connection)
    }

    /// Checks that the schema permits this version of the library.
    ///
    /// - Parameter oldest: The oldest version that may use the schema; nil in schemas of version 1.
    /// - Throws: `DurableError.newerSchema`.
    static func checkVersion(oldest: Int64?, _ connection: PostgresConnection) throws {
        guard let oldest, oldest > PostgresSchema.version else { return }
        let found = try number("schema", connection) ?? oldest
        throw DurableError.newerSchema(found: Int(found), supported: PostgresSchema.version)
    }

    private static func number(_ name: String, _ connection: PostgresConnection) throws -> Int64? {
        var parameters = PostgresParameters()
        parameters.append(name)
        return try connection.run(.number, parameters).first?.optionalInt(0)
    }
}
#endif
