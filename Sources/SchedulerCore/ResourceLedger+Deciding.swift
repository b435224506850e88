import OperationsPrimitives

// The order of the claimants: which of them may have units next.
extension ResourceLedger {
    /// Whether all needs are free, and the claimant overtakes none that it must not overtake.
    mutating func mayHave(_ entry: Entry) -> Bool {
        for need in entry.needs {
            guard need.units <= accounts[need.resource].free, blocker(of: entry, in: need.resource) == nil else {
                return false
            }
        }
        return true
    }

    /// Returns the senior claimant that waits for the resource, and that this one must not overtake.
    mutating func blocker(of entry: Entry, in resource: Resource) -> Claimant? {
        if let first = firstInLine(resource, givesWay: false), first.seniority < entry.seniority {
            return first.claimant
        }
        if let first = firstClaimant(of: entry.lane, for: resource), first.seniority < entry.seniority {
            return first.claimant
        }
        return nil
    }

    /// Offers units to the next claimants, beginning with these resources.
    mutating func settle(_ resources: [Resource]) -> [Claimant] {
        var offered: [Claimant] = []
        unsettled += resources
        while let resource = unsettled.popLast() {
            while accounts[resource].free > 0, let claimant = nextInLine(resource), var entry = entries[claimant] {
                leave(claimant, entry)
                for need in entry.needs {
                    accounts[need.resource].offered += need.units
                    unsettled.append(need.resource)
                }
                entry.state = .offered
                entries[claimant] = entry
                offered.append(claimant)
            }
        }
        return offered
    }

    /// Returns the most senior claimant that may have its needs: the first of a lane that gives way, or the first of the others.
    mutating func nextInLine(_ resource: Resource) -> Claimant? {
        let first = firstInLine(resource, givesWay: false)
        // The lanes in front that cannot be served. They stay in front.
        var passed: [(seniority: UInt64, lane: Lane)] = []
        defer { for (seniority, lane) in passed { accounts[resource].givingWay.insert(lane, at: seniority) } }
        while let next = firstInLine(resource, givesWay: true), next.seniority < first?.seniority ?? .max {
            if let entry = entries[next.claimant] {
                if mayHave(entry) { return next.claimant }
                passed.append((next.seniority, entry.lane))
            }
            accounts[resource].givingWay.popFirst()
        }
        guard let first, let entry = entries[first.claimant], mayHave(entry) else { return nil }
        return first.claimant
    }

    /// Returns the most senior claimant of the lanes that give way, or of the others. Replaces outdated entries in front of it.
    mutating func firstInLine(
        _ resource: Resource, givesWay: Bool
    ) -> (claimant: Claimant, seniority: UInt64)? {
        while let (seniority, lane) = accounts[resource][givesWay].first {
            let belongs = lanes[lane].map { $0.givesWay == givesWay && $0.closers.isEmpty } ?? false
            let first = belongs ? firstClaimant(of: lane, for: resource) : nil
            if let first, first.seniority == seniority { return first }
            accounts[resource][givesWay].popFirst()
            if let first { accounts[resource][givesWay].insert(lane, at: first.seniority) }
        }
        return nil
    }

    /// Returns the most senior claimant of a lane that waits for the resource. Removes outdated entries in front of it.
    mutating func firstClaimant(of lane: Lane, for resource: Resource) -> (
        claimant: Claimant, seniority: UInt64
    )? {
        while let (seniority, claimant) = accounts[resource].lines[lane]?.first {
            if let entry = waitingEntry(of: claimant, seniority, for: resource) {
                guard exceedsCapacity(entry) else { return (claimant, seniority) }
                park(claimant)
            } else {
                accounts[resource].lines[lane]?.popFirst()
            }
        }
        return nil
    }

    /// The entry of a claimant that an element of a line stands for; nil for an outdated element.
    func waitingEntry(of claimant: Claimant, _ seniority: UInt64, for resource: Resource) -> Entry? {
        guard let entry = entries[claimant], entry.state == .waiting, entry.seniority == seniority else { return nil }
        return entry.needs.contains { $0.resource == resource } ? entry : nil
    }

    func exceedsCapacity(_ entry: Entry) -> Bool {
        entry.needs.contains { $0.units > accounts[$0.resource].capacity }
    }
}
