import GRDB

/// An error of the payment provider.
enum ProviderError: Error, CustomStringConvertible {
    case unavailable
    case cardDeclined

    var description: String {
        switch self {
        case .unavailable: "the provider is unavailable"
        case .cardDeclined: "the card is declined"
        }
    }
}

/// A fake payment provider with a database of its own. The provider is unavailable for the first two requests of a card.
final class Provider: Sendable {
    private let database: DatabaseQueue

    init(path: String) async throws {
        database = try DatabaseQueue(path: path)
        try await database.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS payment(key TEXT PRIMARY KEY, number INTEGER NOT NULL, amount INTEGER NOT NULL);
                    CREATE TABLE IF NOT EXISTS request(number INTEGER NOT NULL);
                    """)
        }
    }

    /// Charges an amount, and returns a receipt. A further request with the key changes nothing.
    @discardableResult
    func charge(_ amount: Int, of order: Order, key: String) async throws -> String {
        try await database.write { database in
            try database.execute(
                sql: "INSERT OR IGNORE INTO payment VALUES (?, ?, ?)", arguments: [key, order.number, amount])
            return "receipt for \(amount)"
        }
    }

    /// Charges the card with the part of the price that the gift card does not pay.
    func chargeCard(_ order: Order, key: String) async throws -> String {
        try await database.write { database in
            try database.execute(sql: "INSERT INTO request VALUES (?)", arguments: [order.number])
        }
        if try await requests(of: order) <= 2 { throw ProviderError.unavailable }
        if order.item == "phone" { throw ProviderError.cardDeclined }
        return try await charge(order.price - order.giftCard, of: order, key: key)
    }

    /// Pays all charges of the order back. A further request with the key changes nothing.
    func refund(_ order: Order, key: String) async throws {
        try await charge(-sum(of: order, where: "amount > 0"), of: order, key: key)
    }

    /// Returns the number of requests to charge the card.
    func requests(of order: Order) async throws -> Int {
        try await database.read { database in
            try Int.fetchOne(
                database, sql: "SELECT count(*) FROM request WHERE number = ?", arguments: [order.number]) ?? 0
        }
    }

    func charged(_ order: Order) async throws -> Int { try await sum(of: order, where: "amount > 0") }

    func refunded(_ order: Order) async throws -> Int { try await -sum(of: order, where: "amount < 0") }

    private func sum(of order: Order, where condition: String) async throws -> Int {
        try await database.read { database in
            try Int.fetchOne(
                database, sql: "SELECT coalesce(sum(amount), 0) FROM payment WHERE number = ? AND \(condition)",
                arguments: [order.number]) ?? 0
        }
    }
}
