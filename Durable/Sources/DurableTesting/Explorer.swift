package import DurableCore

/// A difference between a store and the reference.
package struct ExplorerFailure: Error, CustomStringConvertible {
    package var description: String

    package init(description: String) { self.description = description }
}

/// A run of one random program against a machine and the reference.
package struct Explorer {
    package let seed: UInt64
    private let limits: DurableLimits
    private var program: RandomProgram
    package private(set) var reference: Reference
    /// The outcomes so far, which only a retry by a caller may change.
    private var outcomes: [OperationID: DurableState] = [:]
    /// The number of events so far.
    package private(set) var count = 0

    package static let start = DurableInstant(microseconds: 1_800_000_000_000_000)

    package init(seed: UInt64) {
        self.seed = seed
        var limits = DurableLimits()
        (limits.retention, limits.maxCrashes) = (.seconds(20), 2 + Int(seed % 2))
        self.limits = limits
        program = RandomProgram(seed: seed)
        reference = Reference(now: Self.start, limits: limits)
    }

    /// Applies the next event to the reference, and returns the event with its expected reply.
    package mutating func next() -> (event: ProgramEvent, reply: ProgramReply) {
        count += 1
        let event = program.next(after: reference)
        return (event, reference.reply(to: event))
    }

    /// Returns a machine on the rows, with the limits of the program.
    package func machine(on rows: any DurableRows) -> DurableMachine { DurableMachine(rows: rows, limits: limits) }

    /// Compares the reply and all operations with the reference.
    package mutating func compare(
        _ rows: [OperationRow], reply: ProgramReply, expected: ProgramReply, event: ProgramEvent
    ) throws {
        try require(reply == expected, "reply \(reply), expected \(expected)", event)
        let states = rows.map { "\($0.id) \($0.state)" }
        let expectedStates = reference.sorted.map { "\($0.id) \(reference.state(of: $0))" }
        try require(
            states == expectedStates, "differs: \(Set(states).symmetricDifference(expectedStates).sorted())", event)
        for row in rows {
            let isRetry = if case .retry(row.id) = event { true } else { false }
            if let outcome = outcomes[row.id], !isRetry {
                try require(outcome == row.state, "operation \(row.id) changed its outcome \(outcome)", event)
            }
            outcomes[row.id] = row.state.isEnded ? row.state : nil
        }
    }

    private func require(_ condition: Bool, _ text: @autoclosure () -> String, _ event: ProgramEvent) throws {
        if !condition { throw ExplorerFailure(description: "seed \(seed), event \(count) \(event): \(text())") }
    }
}
