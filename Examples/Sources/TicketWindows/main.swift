// Two windows sell tickets for the same show. Each is a serial queue; the stock is shared, so it is behind a lock.
import OperationsFoundation

/// The tickets that are left.
final class Stock: @unchecked Sendable {
    // Sendable: the count is reached under the lock only.
    private let lock = NSLock()
    private var left: Int

    init(_ count: Int) { left = count }

    /// Takes one, and answers how many are left then; nil when there was none.
    ///
    /// Looking and taking are one step under the lock. Were they two, both windows could see the last ticket, and sell it.
    func take() -> Int? {
        lock.withLock {
            guard left > 0 else { return nil }
            left -= 1
            return left
        }
    }
}

/// A window: one customer at a time.
final class Window: @unchecked Sendable {
    // Sendable: `sold` is changed by operations of the serial queue alone.
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

    /// Serves a customer, and after that the next, while there are tickets.
    func open() {
        queue.addOperation { [self] in
            guard let left = stock.take() else { return }
            sold += 1
            print("\(name) sells a ticket, \(left) left")
            // The customer counts the change. Meanwhile the other window sells.
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
