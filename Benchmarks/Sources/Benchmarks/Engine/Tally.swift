import Synchronization

/// The work that every operation of every contender does: it counts itself, so that none can be left out unnoticed.
final class Tally: Sendable {
    private let count = Atomic(0)

    var block: @Sendable () -> Void { { self.add() } }

    func add() { count.wrappingAdd(1, ordering: .relaxed) }

    /// Runs `work`, which adds operations and returns when they are done; answers nanoseconds for one of `operations`.
    static func nanoseconds(perOperationOf operations: Int, _ work: (Tally) -> Void) -> Double {
        let tally = Tally()
        let time = ContinuousClock().measure { work(tally) }
        tally.check(operations)
        return time / .nanoseconds(1) / Double(operations)
    }

    /// Ends the program unless so many operations have run.
    func check(_ expected: Int) {
        let done = count.load(ordering: .acquiring)
        precondition(done == expected, "\(done) operations ran, not \(expected)")
    }
}
