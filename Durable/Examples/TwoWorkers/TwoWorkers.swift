#if Postgres
import Foundation
import OperationsDurable
import OperationsDurablePostgres

/// Two workers in two processes on one database of PostgreSQL. The program kills one worker in the middle of the work.
///
/// The variable `DATABASE_URL` has the address, so that no list of processes shows a password.
@main
struct TwoWorkers {
    static let count = 60

    static func main() async throws {
        guard let url = ProcessInfo.processInfo.environment["DATABASE_URL"] else {
            print("set DATABASE_URL to the address of a database, such as postgresql://user@host/database")
            exit(2)
        }
        let store = try await PostgresStore(url)
        if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "worker" {
            return try await work(as: CommandLine.arguments[2], store)
        }
        try await store.transaction { transaction in
            try transaction.execute("DROP TABLE IF EXISTS rendered_page")
            try transaction.execute("CREATE TABLE rendered_page(number bigint NOT NULL, worker text NOT NULL)")
        }
        let pages = DurableQueue("pages", in: store)
        // At most four pages at a time on all machines together.
        try await pages.setLimit(4)
        let handles = try await pages.add(contentsOf: (1...count).map(RenderPage.init))
        print("added \(count) pages")

        let (east, west) = (try startWorker("east"), try startWorker("west"))
        for handle in handles.prefix(20) { try await handle.value }
        kill(east.processIdentifier, SIGKILL)
        print("killed worker east after 20 pages")
        for handle in handles { try await handle.value }
        west.terminate()
        west.waitUntilExit()
        try await report(from: store)
    }

    /// Runs operations until the process receives SIGTERM.
    private static func work(as name: String, _ store: PostgresStore) async throws {
        var configuration = DurableWorker.Configuration()
        configuration.name = name
        // Operations of a dead worker run again after two seconds. The default is 30 seconds.
        configuration.lease = .seconds(2)
        let worker = try DurableWorker(
            store, queues: ["pages": .limit(4)], operations: [RenderPage.self], configuration: configuration)
        let termination = await stopping(worker)
        defer { termination.cancel() }
        try await RenderPage.$worker.withValue(name) { try await worker.run() }
    }

    /// Returns when SIGTERM stops the worker. An earlier SIGTERM ends the process, which has no work yet.
    private static func stopping(_ worker: DurableWorker) async -> any DispatchSourceSignal {
        let termination = DispatchSource.makeSignalSource(signal: SIGTERM)
        termination.setEventHandler { worker.stop() }
        await withCheckedContinuation { continuation in
            termination.setRegistrationHandler { continuation.resume() }
            termination.activate()
        }
        #if canImport(Darwin)
        // The source observes the signal, whose standard action would end the process.
        signal(SIGTERM, SIG_IGN)
        #endif
        return termination
    }

    private static func startWorker(_ name: String) throws -> Process {
        let process = Process()
        process.executableURL = Bundle.main.executableURL
        process.arguments = ["worker", name]
        try process.run()
        return process
    }

    private static func report(from store: PostgresStore) async throws {
        let rows = try await store.transaction { transaction in
            try transaction.execute(
                "SELECT worker, count(*) AS pages FROM rendered_page GROUP BY worker ORDER BY worker")
        }
        let distinct = try await store.transaction { transaction in
            try transaction.execute("SELECT count(DISTINCT number) AS pages FROM rendered_page").first?.int("pages")
        }
        let total = rows.compactMap { $0.int("pages") }.reduce(0, +)
        print(rows.map { "\($0["worker"] ?? "") rendered \($0["pages"] ?? "") pages" }.joined(separator: ", "))
        guard total == count, distinct == Int64(count) else {
            print("error: \(total) pages, \(distinct ?? 0) of them distinct")
            exit(1)
        }
        print("each of \(count) pages is rendered exactly once")
    }
}

/// Renders one page, and records the page in the transaction of its completion.
struct RenderPage: DurableOperation {
    static let name = "render-page"
    @TaskLocal static var worker = ""
    var number: Int

    init(_ number: Int) { self.number = number }

    func run(_ context: DurableContext) async throws {
        try await Task.sleep(for: .milliseconds(30))
        guard let store = context.store as? PostgresStore else { throw DurableError.noSchema }
        let worker = Self.worker
        try await store.transaction { transaction in
            try transaction.execute(
                "INSERT INTO rendered_page(number, worker) VALUES ($1, $2)", [.int(Int64(number)), .text(worker)])
            try context.complete(in: transaction)
        }
    }
}
#else
@main
struct TwoWorkers {
    static func main() { print("build the example with the trait Postgres: swift run --traits Postgres TwoWorkers") }
}
#endif
