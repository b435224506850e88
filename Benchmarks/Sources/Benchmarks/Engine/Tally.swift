import Synchronization

/// The work of every operation: it counts itself, so that a missing operation is noticed.
final class Tally: Sendable {
    private let count = Atomic(0)

    var block: @Sendable () -> Void { { self.add() } }

    func add() { count.wrappingAdd(1, ordering: .relaxed) }

    /// Runs `work`, which adds operations and returns after their end. Returns the nanoseconds per operation.
    static func nanoseconds(perOperationOf operations: Int, _ work: (Tally) -> Void) -> Double {
        let tally = Tally()
        let time = ContinuousClock().measure { work(tally) }
        tally.check(operations)
        return time / .nanoseconds(1) / Double(operations)
    }

    /// Stops the program unless this number of operations has run.
    func check(_ expected: Int) {
        let done = count.load(ordering: .acquiring)
        precondition(done == expected, "\(done) operations ran, not \(expected)")
    }
}
