import GRDB
import OperationsDurable

/// Reserves the item. The reservation and the end of the operation are one transaction.
struct Reserve: DurableOperation {
    static let name = "reserve"
    var order: Order

    func run(_ context: DurableContext) async throws {
        try await Shop.current().store.transaction { database in
            try database.execute(sql: "UPDATE stock SET count = count - 1 WHERE item = ?", arguments: [order.item])
            try Shop.record("reserved", order, in: database)
            try context.complete(in: database)
        }
    }
}

/// Returns the item to the stock: the compensation for `Reserve`.
struct Release: DurableOperation {
    static let name = "release"
    var order: Order

    func run(_ context: DurableContext) async throws {
        try await Shop.current().store.transaction { database in
            try database.execute(sql: "UPDATE stock SET count = count + 1 WHERE item = ?", arguments: [order.item])
            try Shop.record("released", order, in: database)
            try context.complete(in: database)
        }
    }
}

/// Charges the gift card and then the card. The provider is another system, which knows each idempotency key once.
struct Charge: DurableOperation {
    static let name = "charge"
    var order: Order

    func run(_ context: DurableContext) async throws -> [String] {
        let shop = try Shop.current()
        var receipts: [String] = []
        if order.giftCard > 0 {
            receipts += try await context.step("gift card") {
                let key = "\(context.idempotencyKey) gift card"
                return [try await shop.provider.charge(order.giftCard, of: order, key: key)]
            }
        }
        receipts += try await context.step("card") {
            let receipt = try await shop.provider.chargeCard(order, key: "\(context.idempotencyKey) card")
            shop.die(.afterCharge, order)
            return [receipt]
        }
        return receipts
    }

    static func permitsRetry(after error: any Error) -> Bool { error as? ProviderError != .cardDeclined }
}

/// Refunds all charges of the order: the compensation for `Charge`.
struct Refund: DurableOperation {
    static let name = "refund"
    var order: Order

    func run(_ context: DurableContext) async throws {
        try await Shop.current().provider.refund(order, key: context.idempotencyKey)
    }
}

/// Packs the item. Each step runs once, also when a later step fails or the process ends.
struct Pack: DurableOperation {
    static let name = "pack"
    var order: Order

    func run(_ context: DurableContext) async throws -> String {
        let box = try await context.step("choose a box") { order.price < 500 ? "carton" : "crate" }
        let label = try await context.step("print the label") { "label \(order.number)" }
        return "\(box) with \(label)"
    }
}

/// Waits for the truck, and ships the parcel. The record and the end of the operation are one transaction.
struct Ship: DurableOperation {
    static let name = "ship"
    var order: Order

    func run(_ context: DurableContext) async throws {
        try await context.sleep(for: .milliseconds(200))
        let shop = try Shop.current()
        try await shop.store.transaction { database in
            try Shop.record("shipped", order, in: database)
            try context.complete(in: database)
            shop.die(.withinShipping, order)
        }
    }
}
