import Foundation
import GRDB
import OperationsDurable
import Synchronization

/// SQLite in files of a temporary directory.
struct SQLiteBackend: Backend {
    let isNormal: Bool
    private let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
        "durable-\(UUID().uuidString)")

    init(isNormal: Bool) { self.isNormal = isNormal }

    var option: String { name }

    var name: String { isNormal ? "sqlite-normal" : "sqlite" }

    var hasOneWriter: Bool { true }

    func newAddress() throws -> String {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        return directory.appendingPathComponent("\(UUID().uuidString).db").path
    }

    func open(_ address: String) async throws -> any DurableStore {
        var configuration = SQLiteStore.Configuration()
        if isNormal { configuration.synchronous = .normal }
        return try await SQLiteStore(path: address, configuration: configuration)
    }

    func newBareLoop() throws -> any BareLoop { try SQLiteBareLoop(path: try newAddress(), isNormal: isNormal) }

    func countCommits(of store: any DurableStore) async throws -> @Sendable () -> Int? {
        guard let store = store as? SQLiteStore else { return { nil } }
        let counter = CommitCounter()
        try await store.transaction { $0.add(transactionObserver: counter, extent: .databaseLifetime) }
        let start = counter.count
        return { counter.count - start }
    }

    func createEffects(in store: any DurableStore) async throws {
        guard let store = store as? SQLiteStore else { return }
        try await store.transaction { try $0.execute(sql: "CREATE TABLE effect(number INTEGER NOT NULL)") }
    }

    func openSnapshot(of address: String) throws -> AnyObject {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let connection = try DatabaseQueue(path: address, configuration: configuration)
        try connection.inDatabase { try $0.execute(sql: "BEGIN; SELECT count(*) FROM durable_meta") }
        return connection
    }

    func removeFiles() { try? FileManager.default.removeItem(at: directory) }
}

/// An observer that counts the commits of one connection.
private final class CommitCounter: TransactionObserver, Sendable {
    private let commits = Atomic(0)

    var count: Int { commits.load(ordering: .relaxed) }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidRollback(_ database: Database) {}
    func databaseDidCommit(_ database: Database) { commits.add(1, ordering: .relaxed) }
}
