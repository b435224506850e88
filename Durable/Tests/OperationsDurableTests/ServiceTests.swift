import DurableCore
import DurableTesting
import Foundation
import Instrumentation
import Logging
import Operations
import OperationsDurable
import ServiceContextModule
import ServiceLifecycle
import Testing

/// Rule R14, and a worker as a service.
@Suite(.serialized) struct ServiceTests {
    @Test func `R14: an attempt runs in the context of the caller that added the operation`() async throws {
        TestInstrument.install
        try await withTemporaryFile { path in
            let store = try await SQLiteStore(path: path)
            var context = ServiceContext.topLevel
            context[TestInstrument.Key.self] = "trace-7 \"quoted\""
            let traced = try await ServiceContext.withValue(context) {
                try await DurableQueue("q", in: store).add(Traced(adds: true))
            }
            let plain = try await DurableQueue("q", in: store).add(Traced(adds: false))
            // Another connection, as in another process.
            let other = try await SQLiteStore(path: path)
            try await withWorker(other, [Traced.self]) {
                let value = try await traced.value
                #expect(value == "trace-7 \"quoted\"")
                #expect(try await plain.value == "none")
                let child = DurableHandle<String>(id: OperationID(3), store: store)
                #expect(try await child.value == "trace-7 \"quoted\"")
            }
        }
    }

    @Test func `R14: the instruments of a local queue see the attempts`() async throws {
        let store = MemoryStore()
        let journal = Journal()
        var configuration = DurableWorker.Configuration()
        configuration.configureQueue = { queue in
            journal.append("queue \(queue.name ?? "")")
            let events = queue.events
            Task {
                for await event in events {
                    if case .finished = event.kind { journal.append("finished \(event.operation)") }
                }
            }
        }
        let sum = try await DurableQueue("q", in: store).add(Sum(a: 1, b: 1))
        try await withWorker(store, [Sum.self], configuration: configuration) {
            _ = try await sum.value
            try await poll("the handler has run") { journal.all.count == 2 }
        }
        #expect(journal.all == ["queue q", "finished Attempt 'sum'"])
    }

    @Test func `a worker logs its registration, a database that is away, and its end`() async throws {
        let store = MemoryStore()
        let journal = Journal()
        var configuration = DurableWorker.Configuration()
        configuration.logger = Logger(label: "test") { _ in JournalHandler(journal: journal) }
        try await withWorker(store, [Sum.self], configuration: configuration) {
            try await poll("the worker is registered") { journal.all == ["info the worker is registered"] }
            store.setFaults { .failedCommit }
            store.advance(by: .seconds(1))
            try await poll("the fault is logged") { journal.all.count == 2 }
            store.setFaults(nil)
            try await poll("the return is logged") { journal.all.count == 3 }
        }
        #expect(
            journal.all.dropFirst() == [
                "warning the database is away; running operations continue", "info the database has returned",
                "info the worker has stopped",
            ])
    }

    @Test func `a service group stops a worker after its running operation`() async throws {
        let store = MemoryStore()
        let journal = Journal.named("service")
        let queue = DurableQueue("q", in: store)
        let gated = try await queue.add(Gated(journal: "service"))
        let worker = try DurableWorker(store, queues: ["q": .limit(1)], operations: [Gated.self, Sum.self])
        let group = ServiceGroup(services: [worker], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let running = Task { try await group.run() }
        try await poll("the operation runs") { journal.count("start") == 1 }
        await group.triggerGracefulShutdown()
        journal.append("open")
        try await running.value
        #expect(try await gated.state == .succeeded)
        #expect(try await store.snapshot().workers.isEmpty)
    }
}

/// Runs until its journal has the entry `open`.
private struct Gated: DurableOperation {
    static let name = "gated"
    var journal: String

    func run(_ context: DurableContext) async throws {
        let journal = Journal.named(journal)
        journal.append("start")
        try await poll("the gate is open") { journal.count("open") == 1 }
    }
}

/// Returns the value of the trace, and may add an operation that does the same.
private struct Traced: DurableOperation {
    static let name = "traced"
    var adds: Bool

    func run(_ context: DurableContext) async throws -> String {
        if adds { try await context.add(Traced(adds: false)) }
        return ServiceContext.current?[TestInstrument.Key.self] ?? "none"
    }
}

private struct JournalHandler: LogHandler {
    let journal: Journal
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    init(journal: Journal) { self.journal = journal }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { journal.append("\(event.level) \(event.message)") }
}

/// An instrument that carries one value.
private struct TestInstrument: Instrument {
    enum Key: ServiceContextKey { typealias Value = String }

    /// The instrument of a process can be set once.
    static let install: Void = InstrumentationSystem.bootstrap(TestInstrument())

    func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        context[Key.self] = extractor.extract(key: "trace", from: carrier)
    }

    func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        if let value = context[Key.self] { injector.inject(value, forKey: "trace", into: &carrier) }
    }
}
