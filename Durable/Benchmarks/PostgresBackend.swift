#if Postgres
import Foundation
import OperationsDurable
import OperationsDurablePostgres

/// A database of PostgreSQL. Each store has a schema of its own, which stays.
struct PostgresBackend: Backend {
    let url: String

    var option: String { url }
    var name: String { "postgresql" }
    var hasOneWriter: Bool { false }

    func newAddress() async throws -> String {
        let schema = "bench_\(UUID().uuidString.prefix(8).lowercased())"
        let store = try await PostgresStore(url)
        try await store.transaction { _ = try $0.execute("CREATE SCHEMA \(schema)") }
        return "\(url)\(url.contains("?") ? "&" : "?")options=-csearch_path%3D\(schema)"
    }

    func open(_ address: String) async throws -> any DurableStore { try await PostgresStore(address) }

    func newBareLoop() async throws -> any BareLoop { try await PostgresBareLoop(try await newAddress()) }

    func countCommits(of store: any DurableStore) async throws -> @Sendable () -> Int? { { nil } }

    func removeFiles() {}
}

/// The bare loop in PostgreSQL, with one statement for each batch. The connection is that of a store.
struct PostgresBareLoop: BareLoop {
    private let store: PostgresStore

    init(_ address: String) async throws {
        store = try await PostgresStore(address)
        try await store.transaction { transaction in
            try transaction.execute(
                "CREATE TABLE job(id bigserial PRIMARY KEY, state smallint NOT NULL, input text NOT NULL)")
            try transaction.execute("CREATE INDEX ready ON job(id) WHERE state = 0")
            try transaction.execute("CREATE INDEX running ON job(id) WHERE state = 1")
        }
    }

    func add(_ count: Int, batch: Int) async throws {
        for start in stride(from: 0, to: count, by: batch) {
            let size = Int64(min(batch, count - start))
            try await store.transaction { transaction in
                _ = try transaction.execute(
                    "INSERT INTO job(state, input) SELECT 0, '{}' FROM generate_series(1, $1::bigint)", [.int(size)])
            }
        }
    }

    func run(_ count: Int, batch: Int) async throws {
        for _ in 0...(count + batch - 1) / batch {
            try await store.transaction { transaction in
                try transaction.execute("UPDATE job SET state = 2 WHERE state = 1")
                try transaction.execute(
                    """
                    UPDATE job SET state = 1 WHERE id IN (SELECT id FROM job WHERE state = 0 ORDER BY id LIMIT $1::bigint \
                    FOR UPDATE SKIP LOCKED)
                    """, [.int(Int64(batch))])
            }
        }
    }
}
#endif
