import Foundation
import OperationsDurable

/// An order pipeline that survives the death of its process: reserve, charge, pack, ship.
///
/// The program adds orders, and starts itself again as a worker. The worker kills itself twice in the middle of its work.
/// The next worker continues from the file.
@main
struct Orders {
    static let orders = [
        Order(number: 1, item: "book", price: 20),
        Order(number: 2, item: "lamp", price: 80, giftCard: 30),
        Order(number: 3, item: "bike", price: 900),
        Order(number: 4, item: "piano", price: 2_000),
        Order(number: 5, item: "phone", price: 400, giftCard: 50),
        Order(number: 6, item: "sofa", price: 700),
    ]

    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments.count == 4, arguments[1] == "worker" {
            return try await Shop(directory: arguments[2]).work(crash: Crash(rawValue: arguments[3]))
        }
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("orders-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }

        let shop = try await Shop(directory: directory.path)
        try await shop.createTables()
        let handles = try await addOrders(to: shop)
        for crash in [Crash.afterCharge, .withinShipping, nil] { try runWorker(directory.path, crash) }
        try await Table(orders, handles).print(from: shop)
    }

    /// Adds the orders, and sends the approvals. The store keeps an approval until the order waits for it.
    private static func addOrders(to shop: Shop) async throws -> [DurableHandle<String>] {
        var handles: [DurableHandle<String>] = []
        for order in orders {
            var options = DurableOptions()
            // A repeated request for the order returns the operation of the first request.
            options.unique = "order \(order.number)"
            let handle = try await shop.queue.add(order, options: options)
            if order.item == "bike" { try await shop.store.send("approved", true, to: handle.id) }
            if order.item == "piano" { try await shop.store.send("approved", false, to: handle.id) }
            handles.append(handle)
        }
        print("added \(orders.count) orders, sent one approval and one rejection")
        return handles
    }

    /// Runs a worker in a process of its own until the process ends.
    private static func runWorker(_ directory: String, _ crash: Crash?) throws {
        let process = Process()
        process.executableURL = Bundle.main.executableURL
        process.arguments = ["worker", directory, crash?.rawValue ?? "none"]
        fflush(nil)
        try process.run()
        process.waitUntilExit()
        let isKilled = process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL
        print(isKilled ? "the worker was killed" : "the worker ended with status \(process.terminationStatus)")
        guard isKilled == (crash != nil) else { throw Failure("the worker ended in an unexpected way") }
    }
}

struct Failure: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
}
