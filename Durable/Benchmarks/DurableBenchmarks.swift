import Foundation
import OperationsDurable

/// Compares the store with a bare loop of SQL in one run.
///
/// Usage: `swift run -c release DurableBenchmarks [--normal] [--scale N]`
///
/// The bare loop does the least possible work for each question: one table, one index of ready rows, prepared statements.
@main
struct DurableBenchmarks {
    static func main() async throws {
        let arguments = CommandLine.arguments
        let isNormal = arguments.contains("--normal")
        let scale = arguments.firstIndex(of: "--scale").flatMap { Int(arguments[$0 + 1]) } ?? 1
        let suite = Suite(isNormal: isNormal, scale: scale)
        defer { try? FileManager.default.removeItem(at: suite.directory) }
        print("synchronous \(isNormal ? "NORMAL" : "FULL"), sizes divided by \(scale)")
        try await suite.row(1, "add one by one from 16 tasks", 10_000, suite.addOneByOne) { try $0.add($1, batch: 16) }
        try await suite.row(2, "add in batches of 256", 100_000, suite.addInBatches) { try $0.add($1, batch: 256) }
        try await suite.row(3, "run, limit 16", 50_000, suite.run) { bare, count in
            try bare.run(count, batch: 16)
        } prepare: {
            try $0.add($1, batch: 256)
        }
        try await suite.chain(1_000 / scale)
    }
}

/// An operation that does nothing.
struct Nothing: DurableOperation {
    static let name = "nothing"
    func run(_ context: DurableContext) async throws {}
}

struct Suite {
    let isNormal: Bool
    let scale: Int
    /// The directory of all files of the run.
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("durable-\(UUID().uuidString)")

    /// Prints the times of one question for the store and for the bare loop.
    func row(
        _ number: Int, _ question: String, _ size: Int,
        _ measured: @Sendable (SQLiteStore, Int) async throws -> Duration,
        _ bare: @Sendable (BareLoop, Int) throws -> Void,
        prepare: @Sendable (BareLoop, Int) throws -> Void = { _, _ in }
    ) async throws {
        let count = size / scale
        let loop = try BareLoop(path: try newFile(), isNormal: isNormal)
        try prepare(loop, count)
        let bareTime = try ContinuousClock().measure { try bare(loop, count) }
        let time = try await measured(try await newStore(), count)
        let rate = { (time: Duration) in Int(Double(count) / (time / .seconds(1))) }
        let ratio = bareTime / time
        print(
            "\(number). \(question), \(count): \(rate(time))/s, bare \(rate(bareTime))/s, ratio",
            String(format: "%.2f", ratio))
    }

    private func newFile() throws -> String {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        return directory.appendingPathComponent("\(UUID().uuidString).db").path
    }

    private func newStore() async throws -> SQLiteStore {
        var configuration = SQLiteStore.Configuration()
        if isNormal { configuration.synchronous = .normal }
        return try await SQLiteStore(path: try newFile(), configuration: configuration)
    }

    func addOneByOne(_ store: SQLiteStore, _ count: Int) async throws -> Duration {
        let queue = DurableQueue("q", in: store)
        return try await ContinuousClock().measure {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<16 {
                    group.addTask { for _ in 0..<count / 16 { try await queue.add(Nothing()) } }
                }
                try await group.waitForAll()
            }
        }
    }

    func addInBatches(_ store: SQLiteStore, _ count: Int) async throws -> Duration {
        let queue = DurableQueue("q", in: store)
        return try await ContinuousClock().measure {
            for start in stride(from: 0, to: count, by: 256) {
                var graph = DurableGraph()
                for _ in start..<min(start + 256, count) { try graph.add(Nothing(), to: queue) }
                _ = try await store.add(graph)
            }
        }
    }

    func run(_ store: SQLiteStore, _ count: Int) async throws -> Duration {
        _ = try await addInBatches(store, count)
        let queue = DurableQueue("q", in: store)
        let last = try await queue.add(Nothing(), priority: .veryLow)
        let worker = try DurableWorker(store, queues: ["q": .limit(16)], operations: [Nothing.self])
        return try await ContinuousClock().measure {
            let running = Task { try await worker.run() }
            _ = try await last.outcome
            running.cancel()
            try await running.value
        }
    }

    /// Prints the time of each hop of a chain.
    func chain(_ count: Int) async throws {
        let store = try await newStore()
        let queue = DurableQueue("q", in: store)
        var graph = DurableGraph()
        let members = try (0..<count).map { _ in try graph.add(Nothing(), to: queue) }
        for index in 1..<count { graph.addDependency(of: members[index], on: members[index - 1]) }
        let added = try await store.add(graph)
        let worker = try DurableWorker(store, queues: ["q": .limit(16)], operations: [Nothing.self])
        let time = try await ContinuousClock().measure {
            let running = Task { try await worker.run() }
            _ = try await added.handle(of: members[count - 1]).outcome
            running.cancel()
            try await running.value
        }
        print("5. chain of \(count): \(Int(time / .microseconds(1)) / count) µs a hop")
    }
}
