import OperationsPrimitives

// The moves of a claimant between its states, and its places in the lines.
extension ResourceLedger {
    /// Removes the claimant from its present state. The caller sets the next state.
    mutating func leave(_ claimant: Claimant, _ entry: Entry) {
        for need in entry.needs {
            switch entry.state {
            case .waiting: endWait(for: need.resource, in: entry.lane)
            case .parked:
                endWait(for: need.resource, in: entry.lane)
                accounts[need.resource].parked.remove(claimant)
            case .offered: accounts[need.resource].offered -= need.units
            case .holding:
                accounts[need.resource].inUse -= need.units
                accounts[need.resource].holders.remove(claimant)
            case .lapsed: break
            }
        }
        if let lane = lanes[entry.lane], lane.waiting.isEmpty, lane.closers.isEmpty { lanes[entry.lane] = nil }
        entries[claimant]?.state = .lapsed
    }

    /// Forgets one claimant of a lane that waited for a resource.
    mutating func endWait(for resource: Resource, in lane: Lane) {
        accounts[resource].waiting -= 1
        guard let number = lanes[lane]?.waiting[resource] else { return }
        lanes[lane]?.waiting[resource] = number > 1 ? number - 1 : nil
        if number == 1 { accounts[resource].lines[lane] = nil }
    }

    mutating func join(_ claimant: Claimant, _ entry: inout Entry) {
        entry.state = .waiting
        entries[claimant] = entry
        for need in entry.needs {
            accounts[need.resource].waiting += 1
            lanes[entry.lane]?.waiting[need.resource, default: 0] += 1
            enterLine(of: need.resource, claimant, entry)
        }
    }

    mutating func enterLine(of resource: Resource, _ claimant: Claimant, _ entry: Entry) {
        sweep(resource, entry.lane)
        accounts[resource].lines[entry.lane, default: DeadlineHeap()].insert(claimant, at: entry.seniority)
        if accounts[resource].lines[entry.lane]?.first?.rank == entry.seniority { index(entry.lane, of: resource) }
    }

    /// Enters a lane among those that give way, or among the others, at the seniority of its first claimant. The entry of a closed
    /// lane is outdated. The lane is entered again when it opens.
    mutating func index(_ lane: Lane, of resource: Resource) {
        guard let givesWay = lanes[lane]?.givesWay, let first = firstClaimant(of: lane, for: resource) else { return }
        accounts[resource][givesWay].insert(lane, at: first.seniority)
        guard accounts[resource][givesWay].count > 2 * accounts[resource].lines.count + 64 else { return }
        accounts[resource][givesWay] = DeadlineHeap()
        for other in accounts[resource].lines.keys where lanes[other]?.givesWay == givesWay {
            guard let first = firstClaimant(of: other, for: resource) else { continue }
            accounts[resource][givesWay].insert(other, at: first.seniority)
        }
    }

    /// Removes outdated entries of a lane when they are the majority.
    mutating func sweep(_ resource: Resource, _ lane: Lane) {
        guard let count = accounts[resource].lines[lane]?.count, count > 2 * (lanes[lane]?.waiting[resource] ?? 0) + 64,
            var line = accounts[resource].lines.removeValue(forKey: lane)
        else { return }
        // A claimant may stand in the line several times.
        var kept: Set<Claimant> = []
        line.removeAll { seniority, claimant in
            waitingEntry(of: claimant, seniority, for: resource) == nil || !kept.insert(claimant).inserted
        }
        accounts[resource].lines[lane] = line
    }

    /// Moves a claimant whose need exceeds the capacity out of the lines, so that it blocks no other claimant.
    mutating func park(_ claimant: Claimant) {
        guard let needs = entries[claimant]?.needs else { return }
        entries[claimant]?.state = .parked
        for need in needs {
            accounts[need.resource].parked.insert(claimant)
            unsettled.append(need.resource)
        }
    }

    mutating func unpark(_ claimant: Claimant) {
        guard var entry = entries[claimant], entry.state == .parked, !exceedsCapacity(entry) else { return }
        entry.state = .waiting
        entries[claimant] = entry
        for need in entry.needs {
            accounts[need.resource].parked.remove(claimant)
            enterLine(of: need.resource, claimant, entry)
        }
    }
}
