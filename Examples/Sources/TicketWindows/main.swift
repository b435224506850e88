// Two windows sell tickets for the same show. Each window is a serial queue. Both share the stock, which has a lock.
import OperationsFoundation

/// The tickets that are left.
final class Stock: @unchecked Sendable {
    // Sendable: the lock guards the count.
    private let lock = NSLock()
    private var left: Int

    init(_ count: Int) { left = count }

    /// Takes one ticket, and returns the number of tickets that are left. Returns nil if there was no ticket.
    ///
    /// The check and the change are one step under the lock. With two steps, both windows could sell the last ticket.
    func take() -> Int? {
        lock.withLock {
            guard left > 0 else { return nil }
            left -= 1
            return left
        }
    }
}

/// A window that serves one customer at a time.
final class Window: @unchecked Sendable {
    // Sendable: only operations of the serial queue change `sold`.
    private let name: String
    private let stock: Stock
    private let queue = OperationQueue()
    private(set) var sold = 0

    init(_ name: String, selling stock: Stock) {
        self.name = name
        self.stock = stock
        queue.name = name
        queue.maxConcurrentOperationCount = 1
    }

    /// Serves one customer after the other while there are tickets.
    func open() {
        queue.addOperation { [self] in
            guard let left = stock.take() else { return }
            sold += 1
            print("\(name) sells a ticket, \(left) left")
            // The customer counts the change. The other window sells meanwhile.
            Thread.sleep(forTimeInterval: .random(in: 0.001...0.01))
            open()
        }
    }

    func close() { queue.waitUntilAllOperationsAreFinished() }
}

let stock = Stock(50)
let windows = [Window("north window", selling: stock), Window("south window", selling: stock)]
for window in windows { window.open() }
for window in windows { window.close() }

let sales = windows.map(\.sold)
print("sold out: \(sales[0]) + \(sales[1]) = \(sales.reduce(0, +)) tickets")
