import Foundation
import GRDB

/// A loop of SQL that does the least possible work.
protocol BareLoop: Sendable {
    /// Adds rows, in transactions of the given size.
    func add(_ count: Int, batch: Int) async throws

    /// Completes a batch of rows and claims the next batch in each transaction.
    func run(_ count: Int, batch: Int) async throws

    /// Inserts rows, each in a transaction of its own, from some connections at a time.
    func write(_ count: Int, connections: Int) async throws
}

/// The bare loop in SQLite.
struct SQLiteBareLoop: BareLoop {
    private let database: DatabaseQueue

    init(path: String, isNormal: Bool) throws {
        var configuration = Configuration()
        configuration.journalMode = .wal
        database = try DatabaseQueue(path: path, configuration: configuration)
        try database.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA synchronous = \(isNormal ? "NORMAL" : "FULL")")
            try database.execute(
                sql: """
                    CREATE TABLE job(id INTEGER PRIMARY KEY, state INTEGER NOT NULL, input BLOB NOT NULL);
                    CREATE INDEX ready ON job(id) WHERE state = 0;
                    """)
        }
    }

    func add(_ count: Int, batch: Int) async throws {
        let input = Data("{}".utf8)
        for start in stride(from: 0, to: count, by: batch) {
            try await database.write { database in
                let statement = try database.cachedStatement(sql: "INSERT INTO job(state, input) VALUES (0, ?)")
                for _ in start..<min(start + batch, count) { try statement.execute(arguments: [input]) }
            }
        }
    }

    func run(_ count: Int, batch: Int) async throws {
        var ids: [Int64] = []
        for _ in 0...(count + batch - 1) / batch {
            ids = try await database.write { [ids] database in
                let complete = try database.cachedStatement(sql: "UPDATE job SET state = 2 WHERE id = ? AND state = 1")
                for id in ids { try complete.execute(arguments: [id]) }
                let claim = try database.cachedStatement(
                    sql: """
                        UPDATE job SET state = 1 WHERE id IN (SELECT id FROM job WHERE state = 0 ORDER BY id LIMIT ?) \
                        RETURNING id
                        """)
                return try Int64.fetchAll(claim, arguments: [batch])
            }
        }
    }

    func write(_ count: Int, connections: Int) async throws {
        try await database.write { try $0.execute(sql: "CREATE TABLE effect(number INTEGER NOT NULL)") }
        for number in 0..<count {
            try await database.write { database in
                try database.cachedStatement(sql: "INSERT INTO effect VALUES (?)").execute(arguments: [number])
            }
        }
    }
}
