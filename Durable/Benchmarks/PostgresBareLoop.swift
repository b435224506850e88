#if Postgres
import CPostgres
import Foundation
import OperationsDurablePostgres

/// The bare loop in PostgreSQL: one prepared statement for each batch, on a connection of libpq.
struct PostgresBareLoop: BareLoop {
    private let address: String
    private let connection: BareConnection

    init(_ address: String) throws {
        self.address = address
        connection = try BareConnection(address)
        try connection.execute(
            """
            CREATE TABLE job(id bigserial PRIMARY KEY, state smallint NOT NULL, input text NOT NULL);
            CREATE INDEX ready ON job(id) WHERE state = 0; CREATE INDEX running ON job(id) WHERE state = 1;
            CREATE TABLE effect(number bigint NOT NULL)
            """)
        try connection.prepare(
            "add", "INSERT INTO job(state, input) SELECT 0, '{}' FROM generate_series(1, $1::bigint)")
        try connection.prepare("end", "UPDATE job SET state = 2 WHERE state = 1")
        try connection.prepare(
            "claim",
            """
            UPDATE job SET state = 1 WHERE id IN (SELECT id FROM job WHERE state = 0 ORDER BY id LIMIT $1::bigint \
            FOR UPDATE SKIP LOCKED)
            """)
    }

    func add(_ count: Int, batch: Int) async throws {
        for start in stride(from: 0, to: count, by: batch) {
            try connection.transaction { try $0.run("add", min(batch, count - start)) }
        }
    }

    func run(_ count: Int, batch: Int) async throws {
        for _ in 0...(count + batch - 1) / batch {
            try connection.transaction { connection in
                try connection.run("end")
                try connection.run("claim", batch)
            }
        }
    }

    func write(_ count: Int, connections: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<connections {
                let connection = try BareConnection(address)
                try connection.prepare("insert", "INSERT INTO effect VALUES ($1::bigint)")
                group.addTask {
                    try await withCheckedThrowingContinuation { continuation in
                        Thread.detachNewThread {
                            continuation.resume(
                                with: Result {
                                    for number in 0..<count / connections {
                                        try connection.transaction { try $0.run("insert", number) }
                                    }
                                })
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

/// A connection with the settings of the planner that a store has. With other settings, the plan of a batch may become a scan
/// of the whole table while the table grows.
final class BareConnection: @unchecked Sendable {
    // Sendable: one thread at a time uses a connection.
    private let handle: OpaquePointer

    struct Failure: Error {
        let text: String
    }

    init(_ address: String) throws {
        guard let handle = PQconnectdb(address) else { throw Failure(text: "no memory") }
        self.handle = handle
        for setting in PostgresPlanner.settings { try execute("SET \(setting.name) = \(setting.value ?? "DEFAULT")") }
    }

    deinit { PQfinish(handle) }

    func execute(_ sql: String) throws { try check(PQexec(handle, sql)) }

    func prepare(_ name: String, _ sql: String) throws { try check(PQprepare(handle, name, sql, 0, nil)) }

    func run(_ name: String, _ parameter: Int? = nil) throws {
        guard let parameter else { return try check(PQexecPrepared(handle, name, 0, nil, nil, nil, 0)) }
        try "\(parameter)".withCString { text in
            let values: [UnsafePointer<CChar>?] = [text]
            try check(PQexecPrepared(handle, name, 1, values, nil, nil, 0))
        }
    }

    func transaction(_ statements: (BareConnection) throws -> Void) throws {
        try execute("BEGIN")
        try statements(self)
        try execute("COMMIT")
    }

    private func check(_ result: OpaquePointer?) throws {
        defer { PQclear(result) }
        let status = PQresultStatus(result)
        guard status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK else {
            throw Failure(text: PQerrorMessage(handle).map { String(cString: $0) } ?? "")
        }
    }
}
#endif
