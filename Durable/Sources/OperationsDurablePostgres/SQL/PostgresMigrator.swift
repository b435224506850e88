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
            key.append("on")
            try connection.run(.lock, key)
            let exists = try connection.run(.exists).first?.int(0) == 1
            var version = exists ? Int(try number("schema", connection) ?? 1) : 0
            if version > PostgresSchema.version {
                let oldest = Int(try number("oldest_reader", connection) ?? Int64(version))
                if oldest > PostgresSchema.version {
                    throw DurableError.newerSchema(found: version, supported: PostgresSchema.version)
                }
            }
            while version < PostgresSchema.version {
                try connection.execute(PostgresSchema.migrations[version])
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
            return identity
        } catch {
            connection.rollBack()
            throw error
        }
    }

    private static func number(_ name: String, _ connection: PostgresConnection) throws -> Int64? {
        var parameters = PostgresParameters()
        parameters.append(name)
        return try connection.run(.number, parameters).first?.optionalInt(0)
    }
}
#endif
