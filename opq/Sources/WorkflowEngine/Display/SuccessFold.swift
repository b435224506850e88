/// The decision about the line of a success. The successes of a family become one line.
public struct SuccessFold: Sendable {
    /// The line for an operation that has ended.
    public enum Line: Equatable, Sendable {
        /// The line of the operation itself, as in a report without folding.
        case own
        case none
        /// The operation is shown by its own line, or by none, and is the last one of its family.
        case familyEnds(name: String, successes: Int, time: Duration, showsOwn: Bool)
    }

    private struct Family {
        var left: Int
        var folded = 0
        var start: RunProgress.Instant?
    }

    private var families: [String: Family] = [:]
    private var familyOfMember: [String: String] = [:]

    /// Creates the decisions for a plan.
    public init(of plan: WorkflowPlan) {
        for operation in plan.operations where operation.item != nil {
            families[operation.family, default: Family(left: 0)].left += 1
            familyOfMember[operation.name] = operation.family
        }
    }

    /// Notes the members of a family that were found during the run.
    public mutating func expanded(into members: [PlannedOperation]) {
        for operation in members {
            families[operation.family, default: Family(left: 0)].left += 1
            familyOfMember[operation.name] = operation.family
        }
    }

    /// Notes the start of an operation.
    public mutating func started(_ name: String, at now: RunProgress.Instant) {
        guard let family = familyOfMember[name], families[family]?.start == nil else { return }
        families[family]?.start = now
    }

    /// Decides about an operation that has ended.
    ///
    /// - Parameter hasOutput: Whether the output of the command is shown, which needs a heading.
    public mutating func ended(_ conclusion: Conclusion, hasOutput: Bool, at now: RunProgress.Instant) -> Line {
        guard let name = familyOfMember[conclusion.name], var family = families[name] else { return .own }
        let isFolded = conclusion.outcome == .succeeded && !hasOutput
        family.left -= 1
        if isFolded { family.folded += 1 }
        families[name] = family
        guard family.left == 0, family.folded > 0 else { return isFolded ? .none : .own }
        let time = now - (family.start ?? now)
        return .familyEnds(name: name, successes: family.folded, time: time, showsOwn: !isFolded)
    }
}
