import DurableCore
import DurableTesting
import Foundation
import Testing

@testable import OperationsDurable

/// The stores of the conformance suite.
enum StoreKind: CaseIterable, CustomTestStringConvertible {
    case memory, sqlite
    #if Postgres
    case postgres

    /// PostgreSQL takes part if its programs are installed.
    static var allCases: [StoreKind] { [.memory, .sqlite] + (PostgresServer.isInstalled ? [.postgres] : []) }
    #endif

    var testDescription: String { "\(self)" }
}

/// A clock that only the test moves.
final class TestClock: Sendable {
    private let instant = Locked(DurableInstant(microseconds: 1_800_000_000_000_000))

    var now: DurableInstant { instant.withLock { $0 } }

    func advance(by duration: Duration) { instant.withLock { $0 = $0 + duration } }
}

/// A store with a clock that the test moves.
struct TestStore {
    let store: any DurableStore
    let advance: @Sendable (Duration) -> Void

    var sqlite: SQLiteStore { get throws { try #require(store as? SQLiteStore) } }
}

/// Calls the body with an empty store, and removes the store afterward.
func withStore(
    _ kind: StoreKind, limits: DurableLimits = DurableLimits(), _ body: (TestStore) async throws -> Void
) async throws {
    switch kind {
    case .memory:
        let store = MemoryStore(limits: limits)
        try await body(TestStore(store: store) { store.advance(by: $0) })
        try store.checkInvariants()
    case .sqlite:
        try await withTemporaryFile { path in
            let clock = TestClock()
            var configuration = SQLiteStore.Configuration()
            (configuration.limits, configuration.synchronous) = (limits, .normal)
            configuration.clock = { clock.now }
            let store = try await SQLiteStore(path: path, configuration: configuration)
            try await body(
                TestStore(store: store) {
                    clock.advance(by: $0)
                    store.notices.publishUnknownChange()
                })
        }
    #if Postgres
    case .postgres: try await withPostgresStore(limits, body)
    #endif
    }
}

/// Calls the body with the path of a file that does not exist, in a directory of its own.
func withTemporaryFile(_ body: (String) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("durable-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    try await body(directory.appendingPathComponent("work.db").path)
}

/// Runs a worker while the body runs, and stops the worker afterward.
func withWorker(
    _ store: any DurableStore, queues: [String: DurableWorker.QueueLimit] = ["q": .limit(4)],
    _ operations: [any DurableOperation.Type], configuration: DurableWorker.Configuration = .init(),
    _ body: () async throws -> Void
) async throws {
    let worker = try DurableWorker(store, queues: queues, operations: operations, configuration: configuration)
    let running = Task { try await worker.run() }
    let result: Result<Void, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    running.cancel()
    try await running.value
    try result.get()
}

/// A record of the calls of test operations, by name.
final class Journal: Sendable {
    private let entries = Locked<[String]>([])

    static let shared = Locked<[String: Journal]>([:])

    /// Returns the journal of the name. Operations name their journal, because the store keeps only their values.
    static func named(_ name: String) -> Journal {
        shared.withLock { journals in
            if let known = journals[name] { return known }
            let journal = Journal()
            journals[name] = journal
            return journal
        }
    }

    func append(_ entry: String) { entries.withLock { $0.append(entry) } }

    var all: [String] { entries.withLock { $0 } }

    func count(_ entry: String) -> Int { all.count { $0 == entry } }
}

/// Waits until the condition is true.
///
/// The poll ends at the first success. A failure is reported after 30 seconds.
func poll(_ text: String, _ condition: () async throws -> Bool) async throws {
    for _ in 0..<15_000 {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(2))
    }
    Issue.record("the condition did not become true: \(text)")
    throw CancellationError()
}

extension DurableHandle {
    /// Waits until the operation is in the state.
    func reaches(_ expected: DurableState) async throws {
        try await poll("operation \(id) is \(expected)") { try await state == expected }
    }
}
