/// An explanation of a queue that holds operations and cannot start any of them without an outside event.
public struct StallReport: Sendable, CustomStringConvertible {
    /// The queue's name.
    public let queue: String
    /// The groups and retries of that queue in which the operations wait, outermost first; empty if the operations are in the
    /// queue itself.
    public let path: [String]
    /// Every operation of the queue, or of the innermost group or retry of `path`, in the order added.
    public let blocked: [Explanation]
    /// The other operations that the blocked ones wait for, also in other queues, and that cannot continue. The nearest come first.
    /// At most `describedCauses`.
    public let causes: [Explanation]

    /// The operation that the stall comes from: it waits for no operation that cannot continue. nil if there is none, as in a cycle,
    /// or if the operations of the queue wait for different reasons.
    public let root: Explanation?

    /// The most operations in `causes`.
    public static let describedCauses = 20

    /// The most lines for operations in `description`. `blocked` has all operations.
    public static let describedOperations = 20

    /// One line for the queue, at most `describedOperations` lines for operations, the number of other operations,
    /// one line for each cycle, for each cause, and for the root.
    public var description: String {
        let count = blocked.count
        let state =
            count == 1 ? "1 operation waits and cannot continue" : "\(count) operations wait and none can continue"
        let place = path.isEmpty ? "queue \(queue.inQuotes)" : path.joined(separator: " → ")
        let around = path.isEmpty || queue.isEmpty ? "" : " in queue \(queue.inQuotes)"
        let lines =
            blocked.lazy.map(\.withoutCycles).lines(atMost: Self.describedOperations)
            + cycles.map { "cycle: \($0)" }
            + causes.filter { $0.operation != root?.operation }.map { "cause: \($0.withQueue)" }
            + (root.map { ["root: \($0.withQueue)"] } ?? [])
        return "\(place)\(around) is stalled: \(state)" + lines.map { "\n  \($0)" }.joined()
    }

    /// The cycles of the operations, each once.
    private var cycles: [String] {
        var known: Set<Set<String>> = []
        return blocked.flatMap(\.reasons).compactMap { reason in
            guard case .cycle(let path) = reason, known.insert(Set(path)).inserted else { return nil }
            return WaitingReason.describe(path)
        }
    }
}

extension Explanation {
    /// The explanation without the cycles, which the report lists.
    fileprivate var withoutCycles: Explanation {
        let others = reasons.filter { if case .cycle = $0 { false } else { true } }
        return with(others.isEmpty ? reasons : others, named: operation)
    }

    fileprivate var withQueue: Explanation {
        let name = queue ?? ""
        return name.isEmpty ? self : with(reasons, named: "\(operation) in queue \(name.inQuotes)")
    }

    private func with(_ reasons: [WaitingReason], named name: String) -> Explanation {
        Explanation(
            operation: name, queue: queue, reasons: reasons, executionTime: executionTime,
            dependentCount: dependentCount)
    }
}
