/// The state of an operation at one moment: the reasons for which it waits, or since when it executes.
public struct Explanation: Sendable, CustomStringConvertible {
    /// The type of the operation, and its name or address.
    public let operation: String
    /// The name of the operation's queue, or of the queue outside of its groups and retries; nil for an operation in no queue.
    public let queue: String?
    /// The reasons for which the operation waits; empty when it can start.
    public let reasons: [WaitingReason]

    /// The time since the operation was started, to 10 ms; nil if it does not execute, or if a manual executor runs it.
    public let executionTime: Duration?
    /// The number of operations that depend on this one and have not ended.
    public let dependentCount: Int

    init(
        operation: String, queue: String? = nil, reasons: [WaitingReason], executionTime: Duration? = nil,
        dependentCount: Int = 0
    ) {
        (self.operation, self.queue, self.reasons) = (operation, queue, reasons)
        (self.executionTime, self.dependentCount) = (executionTime, dependentCount)
    }

    /// The number of reasons in the text of an explanation that has more than six. Up to six are all in the text.
    public static let describedReasons = 5

    /// The operation, the first `describedReasons` of its reasons, the number of other reasons, and for an operation that executes
    /// the time since its start and the number of its dependents.
    public var description: String { "\(operation): \(state)" }

    /// The description without the operation.
    fileprivate var state: String {
        guard !reasons.isEmpty else { return "nothing holds it back" }
        // A cycle is the last reason and the most useful one, so it is always listed.
        let isLong = reasons.count > Self.describedReasons + 1
        let listed = isLong ? Array(reasons.prefix(Self.describedReasons - 1)) + reasons.suffix(1) : reasons
        return listed.map(describe).joined(separator: "; ")
            + (isLong ? "; and \(reasons.count - listed.count) more" : "") + dependents
    }

    private func describe(_ reason: WaitingReason) -> String {
        guard reason == .executing, let executionTime else { return reason.description }
        return "\(reason) for \(executionTime.inWords)"
    }

    private var dependents: String {
        guard reasons.contains(.executing), dependentCount > 0 else { return "" }
        return dependentCount == 1 ? "; 1 operation waits for it" : "; \(dependentCount) operations wait for it"
    }
}

extension Collection<Explanation> {
    /// Returns a line for each element. If there are more than `limit`, those in the same state share the line of the first one, and
    /// a last line has the number of those that are still left.
    func lines(atMost limit: Int) -> [String] {
        guard count > limit else { return map(\.description) }
        let counts = reduce(into: [:]) { $0[$1.state, default: 0] += 1 }
        var (described, rest) = (Set<String>(), count)
        var lines: [String] = []
        for explanation in self where lines.count < limit {
            let state = explanation.state
            guard described.insert(state).inserted, let sharers = counts[state] else { continue }
            rest -= sharers
            lines.append("\(explanation.operation): \(state)\(others(sharers - 1))")
        }
        return lines + (rest > 0 ? ["and \(rest) more"] : [])
    }

    private func others(_ count: Int) -> String {
        switch count {
        case 0: ""
        case 1: "; the same applies to 1 other operation"
        default: "; the same applies to \(count) other operations"
        }
    }
}
