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

    func newBareLoop() async throws -> any BareLoop { try PostgresBareLoop(try await newAddress()) }

    func countCommits(of store: any DurableStore) async throws -> @Sendable () -> Int? { { nil } }

    func createEffects(in store: any DurableStore) async throws {
        guard let store = store as? PostgresStore else { return }
        try await store.transaction { _ = try $0.execute("CREATE TABLE effect(number bigint NOT NULL)") }
    }

    func openSnapshot(of address: String) throws -> AnyObject {
        let connection = try BareConnection(address)
        try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM durable_meta")
        return connection
    }

    func removeFiles() {}
}
#endif
