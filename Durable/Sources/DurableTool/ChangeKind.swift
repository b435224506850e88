public import DurableCore

/// A change of operations.
public enum ChangeKind: String, Sendable, CaseIterable {
    case retry, cancel, discard, move, delete, prioritize

    /// The states of operations that permit the change.
    public var states: Set<DurableState> {
        switch self {
        case .retry: [.failed, .crashed, .cancelled, .discarded]
        case .cancel, .prioritize: Set(DurableState.allCases.filter { !$0.isEnded })
        case .discard, .move: [.waiting, .scheduled, .blocked, .ready, .awaitingSignal]
        case .delete: Set(DurableState.allCases.filter(\.isEnded))
        }
    }

    /// Returns the reason for which an operation in the state refuses the change; nil if it does not refuse.
    public func refusal(of state: DurableState) -> String? {
        if states.contains(state) { return nil }
        let names = states.sorted { $0.rawValue < $1.rawValue }.map(StateNames.name).joined(separator: ", ")
        return "is \(StateNames.name(state)); \(rawValue) needs one of \(names)"
    }

    /// Returns whether the change needs a confirmation.
    public static func mustAsk(_ count: Int, isConfirmed: Bool) -> Bool { count > 1 && !isConfirmed }

    /// Returns the result in words.
    public func result(_ count: Int) -> String {
        let verb =
            switch self {
            case .retry: "retried"
            case .cancel: "cancelled"
            case .discard: "discarded"
            case .move: "moved"
            case .delete: "deleted"
            case .prioritize: "prioritized"
            }
        return "\(verb) \(count) operation\(count == 1 ? "" : "s")"
    }

    /// Returns the JSON of the result.
    public func json(isDry: Bool, selected: Int, changed: [OperationID], refused: Int) -> JSONText {
        .members([
            "change": .text(rawValue), "dryRun": .boolean(isDry), "selected": JSONText(selected),
            "changed": .list(changed.map { JSONText($0) }), "refused": JSONText(refused),
        ])
    }
}
