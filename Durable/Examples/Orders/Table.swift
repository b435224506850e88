import Foundation
import OperationsDurable

/// The table of all orders at the end.
struct Table {
    private let orders: [Order]
    private let handles: [DurableHandle<String>]

    init(_ orders: [Order], _ handles: [DurableHandle<String>]) { (self.orders, self.handles) = (orders, handles) }

    /// Prints the table.
    ///
    /// - Throws: `Failure` if an order is neither shipped exactly once nor compensated.
    func print(from shop: Shop) async throws {
        Swift.print()
        line(["order", "reserved", "released", "charged", "refunded", "shipped", "output"])
        for (order, handle) in zip(orders, handles) {
            let reserved = try await shop.count(of: "reserved", order)
            let released = try await shop.count(of: "released", order)
            let shipped = try await shop.count(of: "shipped", order)
            let (charged, refunded) = (
                try await shop.provider.charged(order), try await shop.provider.refunded(order)
            )
            let numbers = [reserved, released, charged, refunded, shipped]
            line(["\(order.number) \(order.item)"] + numbers.map { "\($0)" } + [try await handle.value])
            let isShipped = numbers == [1, 0, order.price, 0, 1]
            let isCompensated = numbers == [1, 1, refunded, refunded, 0]
            guard isShipped || isCompensated else {
                throw Failure("order \(order.number) is neither shipped exactly once nor compensated")
            }
        }
        Swift.print()
        let requests = try await shop.provider.requests(of: orders[1])
        Swift.print("The provider received \(requests) requests for the card of order 2, and charged the card once.")
        Swift.print("Each order is shipped exactly once, or compensated.")
    }

    private func line(_ cells: [String]) {
        let padded = cells.map { $0.padding(toLength: max(10, $0.count), withPad: " ", startingAt: 0) }
        Swift.print(padded.joined().trimmingCharacters(in: .whitespaces))
    }
}
