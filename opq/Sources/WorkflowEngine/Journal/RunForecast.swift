/// The operations that a run would execute, found without running a command or writing a record.
public struct RunForecast: Sendable {
    /// An operation that would run.
    public struct Entry: Sendable {
        public let operation: PlannedOperation
        /// The reason as a text for the user.
        public let reason: String
    }

    /// The operations in a possible order.
    ///
    /// An operation that reads a file of another one in the list is in the list, although the file may stay the same.
    /// Operations that only run after a failure are not.
    public let entries: [Entry]

    /// Finds the operations. Reads the files that they declare.
    ///
    /// - Parameters:
    ///   - workflow: The path of the workflow file. `nil` if the workflow has no file.
    ///   - isForced: Whether all operations run.
    ///   - resumes: Whether the run continues the last one.
    /// - Throws: ``RunStore/Failure`` if the journal cannot be read.
    public init(
        of plan: WorkflowPlan, workflow: String?, isForced: Bool, resumes: Bool
    ) throws(RunStore.Failure) {
        var history = RunHistory()
        if let workflow { history = try RunStore.history(of: workflow) }
        self.init(of: plan, history, isForced: isForced, resumes: resumes)
    }

    init(of plan: WorkflowPlan, _ history: RunHistory, isForced: Bool, resumes: Bool) {
        let journal = RunJournal(of: plan, in: nil, earlier: history, isForced: isForced, resumes: resumes)
        var makers: [Int: [Int]] = [:]
        FileLinks(plan.operations).forEachReading { makers[$0.reader, default: []].append($0.maker) }
        var runs: Set<Int> = []
        var entries: [Entry] = []
        for index in plan.possibleOrder where plan.operations[index].settings.condition != .failure {
            if let growth = plan.operations[index].growth {
                let family = Self.members(
                    of: index, growth, plan, journal,
                    ranBefore: plan.operations[index].dependencies.first(where: runs.contains))
                if family.isEmpty { continue }
                runs.insert(index)
                journal.assumesRun(of: index)
                entries += family
                continue
            }
            let reason: String
            if case .run(let own) = journal.prepare(index).decision {
                reason = own.text
            } else if let maker = makers[index]?.first(where: { runs.contains($0) }) {
                reason = "\(plan.operations[maker].name) makes an input"
            } else {
                continue
            }
            runs.insert(index)
            journal.assumesRun(of: index)
            entries.append(Entry(operation: plan.operations[index], reason: reason))
        }
        self.entries = entries
    }

    /// Returns the members of a family that would run. The family itself, if its items are not known before another operation
    /// has run.
    private static func members(
        of index: Int, _ growth: FamilyGrowth, _ plan: WorkflowPlan, _ journal: RunJournal, ranBefore: Int?
    ) -> [Entry] {
        let family = plan.operations[index]
        if let ranBefore {
            return [Entry(operation: family, reason: "its items are known after \(plan.operations[ranBefore].name)")]
        }
        let operations: [PlannedOperation]
        do throws(GrowthFailure) {
            operations = try growth.operations()
        } catch {
            return [Entry(operation: family, reason: error.text)]
        }
        let members = plan.members(operations)
        let own = journal.journal(ofFamilyAt: index, members)
        return operations.indices.compactMap { member in
            guard case .run(let reason) = own.prepare(member).decision else { return nil }
            return Entry(operation: operations[member], reason: reason.text)
        }
    }
}
