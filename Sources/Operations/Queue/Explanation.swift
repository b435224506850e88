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
    public var description: String {
        guard !reasons.isEmpty else { return "\(operation): nothing holds it back" }
        // A cycle is the last reason and the most useful one, so it is always listed.
        let isLong = reasons.count > Self.describedReasons + 1
        let listed = isLong ? Array(reasons.prefix(Self.describedReasons - 1)) + reasons.suffix(1) : reasons
        return "\(operation): " + listed.map(describe).joined(separator: "; ")
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
    /// Returns the descriptions of the first elements, and a line with the number of the others.
    func lines(atMost limit: Int) -> [String] {
        prefix(limit).map(\.description) + (count > limit ? ["and \(count - limit) more"] : [])
    }
}
