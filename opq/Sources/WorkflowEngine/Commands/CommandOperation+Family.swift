import Operations
import Synchronization

/// An operation that stands for a family whose items are found during the run.
extension CommandOperation {
    /// The members of the family for which this operation stands. `nil` for an operation with a command, and until they are known.
    var family: FamilyRun? { state.withLock { $0.rare.family } }

    /// Finds the members of the family for which this operation stands, and runs them. This operation ends with the last one.
    func grow(_ growth: FamilyGrowth) {
        // On a thread that may wait for a disk.
        shell.journal.files.addOperation { [self] in
            var members: [PlannedOperation]
            do throws(GrowthFailure) {
                members = try growth.operations()
            } catch {
                return conclude(.failed(.noItems(error.text)))
            }
            if isCancelled { return conclude(.cancelled) }
            for index in members.indices { members[index].captured = planned.captured }
            let family = FamilyRun(members, of: index, in: plan, shell) { [weak self] in self?.familyEnded() }
            state.withLock { $0.rare.family = family }
            ledger.note(.expanded(planned, into: members))
            if members.isEmpty { return familyEnded() }
            family.start(in: shell.host)
            // A cancellation may have come before the members were known.
            if isCancelled { family.forEach { $0.cancel() } }
        }
    }

    private func familyEnded() {
        guard let family else { return }
        if family.journal.hasRun { shell.journal.assumesRun(of: index) }
        family.journal.recordFamily()
        if planned.settings.capture != nil {
            let values = family.plan.operations.compactMap { shell.captures.value(of: $0.name) }
            shell.captures.set(values.joined(separator: "\n"), of: planned.name)
        }
        ledger.settle(family.conclusion(named: planned.name), at: index)
        ledger.note(.familyEnded(planned))
        finish()
    }
}
