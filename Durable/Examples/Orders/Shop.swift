import Foundation
import GRDB
import OperationsDurable
import Synchronization

/// The moment of order 2 at which a worker kills its own process.
enum Crash: String {
    /// The provider has charged the card, and the store has no record of the step.
    case afterCharge
    /// The transaction that ships the order has no commit.
    case withinShipping
}

/// The systems that the operations use.
final class Shop: Sendable {
    let store: SQLiteStore
    let queue: DurableQueue
    let provider: Provider
    private let crash = Mutex<Crash?>(nil)

    init(directory: String) async throws {
        store = try await SQLiteStore(path: "\(directory)/orders.db")
        queue = DurableQueue("orders", in: store)
        provider = try await Provider(path: "\(directory)/provider.db")
    }

    /// The shop of the running worker. An operation is a stored value, so that it finds the systems here.
    @TaskLocal private static var ofWorker: Shop?

    static func current() throws -> Shop {
        guard let shop = ofWorker else { throw Failure("no worker runs") }
        return shop
    }

    /// Runs operations until all orders have ended.
    func work(crash: Crash?) async throws {
        self.crash.withLock { $0 = crash }
        var configuration = DurableWorker.Configuration()
        // The next worker continues after a second. The default, 30 s, fits workers that survive pauses.
        configuration.lease = .seconds(1)
        let worker = try DurableWorker(
            store, queues: [queue.name: .limit(4)],
            operations: [
                Order.self, Reserve.self, Release.self, Charge.self, Refund.self, Pack.self, Ship.self,
            ], configuration: configuration)
        let running = Task { try await Shop.$ofWorker.withValue(self) { try await worker.run() } }
        for id in try await store.operations(matching: DurableFilter(queue: queue.name, name: Order.name)) {
            _ = try await DurableHandle<String>(id: id, store: store).outcome
        }
        worker.stop()
        try await running.value
    }

    /// Kills this process if the moment is that of the crash.
    func die(_ moment: Crash, _ order: Order) {
        guard crash.withLock({ $0 }) == moment, order.number == 2 else { return }
        print(
            moment == .afterCharge
                ? "the worker kills itself: the card of order 2 is charged, and the store has no record of the step"
                : "the worker kills itself: the transaction that ships order 2 has no commit")
        fflush(nil)
        kill(getpid(), SIGKILL)
    }

    // MARK: - The shop's own tables, in the file of the store

    func createTables() async throws {
        try await store.transaction { database in
            try database.execute(sql: "CREATE TABLE stock(item TEXT PRIMARY KEY, count INTEGER NOT NULL)")
            try database.execute(sql: "CREATE TABLE ledger(number INTEGER NOT NULL, event TEXT NOT NULL)")
            for order in Orders.orders {
                try database.execute(sql: "INSERT INTO stock VALUES (?, 1)", arguments: [order.item])
            }
        }
    }

    static func record(_ event: String, _ order: Order, in database: Database) throws {
        try database.execute(sql: "INSERT INTO ledger VALUES (?, ?)", arguments: [order.number, event])
    }

    /// Returns the number of records of the event, which is 1 if the effect happened exactly once.
    func count(of event: String, _ order: Order) async throws -> Int {
        try await store.transaction { database in
            try Int.fetchOne(
                database, sql: "SELECT count(*) FROM ledger WHERE number = ? AND event = ?",
                arguments: [order.number, event]) ?? 0
        }
    }
}
