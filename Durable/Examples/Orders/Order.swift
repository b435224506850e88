import OperationsDurable

/// One order. The operation adds an operation for each stage, and waits for the stages without a slot.
struct Order: DurableOperation {
    static let name = "order"
    var number: Int
    var item: String
    var price: Int
    /// The part of the price that a gift card pays.
    var giftCard = 0

    func run(_ context: DurableContext) async throws -> String {
        try await context.wait(for: context.add(Reserve(order: self)))
        guard try await isApproved(context) else {
            try await context.wait(for: context.add(Release(order: self)))
            return "not approved"
        }
        let receipts: [String]
        do {
            var options = DurableOptions()
            options.retry = .exponential(retries: 5, first: .milliseconds(50))
            receipts = try await context.wait(for: context.add(Charge(order: self), options: options))
        } catch DurableError.notSucceeded(_, _, let reason) {
            // A plain `catch` would also run when the wait suspends this attempt.
            try await context.wait(for: context.add(Refund(order: self)))
            try await context.wait(for: context.add(Release(order: self)))
            return "not charged: \(reason)"
        }
        let pack = try await context.add(Pack(order: self))
        var options = DurableOptions()
        options.dependencyFailurePolicy = .cancel
        try await context.wait(for: context.add(Ship(order: self), after: [pack], options: options))
        return "\(receipts.joined(separator: ", ")), shipped in a \(try await pack.value)"
    }

    /// An expensive order needs an approval within a second. A signal that precedes the wait counts.
    private func isApproved(_ context: DurableContext) async throws -> Bool {
        if price < 500 { return true }
        do {
            return try await context.wait(for: "approved", as: Bool.self, timeout: .seconds(1))
        } catch DurableError.signalTimeout { return false }
    }
}
