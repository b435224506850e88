import DurableCore

/// The rules for operations whose workers died.
extension Reference {
    mutating func expire(_ expired: [WorkerID]) {
        let running = Dictionary(grouping: sorted.filter { $0.phase == .running }, by: \.worker)
        for worker in expired {
            let own = running[worker] ?? []
            let others = running.keys.compactMap { $0 }.filter { $0 != worker && processes[$0] == processes[worker] }
            let isAlone = own.count == 1 && processes[worker] != nil && others.isEmpty
            if isAlone, let death = own[0].death {
                for suspect in suspects where suspect.death == death && suspect.id != own[0].id {
                    operations[suspect.id]?.clear()
                    if state(of: suspect) == .scheduled {
                        operations[suspect.id]?.wakeAt = nil
                        operations[suspect.id]?.isScheduled = false
                    }
                }
            }
            for operation in own {
                operations[operation.id]?.crashes += 1
                operations[operation.id]?.death = worker
                if !operation.isCancelRequested, isAlone, operation.crashes + 1 >= limits.maxCrashes {
                    endWork(operation.id, .crashed)
                    continue
                }
                putBack(operation.id)
                let delay = OperationRow.delay(afterCrash: operation.crashes + 1)
                if operations[operation.id]?.phase == .idle, delay > .zero {
                    operations[operation.id]?.wakeAt = now + delay
                    operations[operation.id]?.isScheduled = true
                }
            }
        }
        for worker in expired where running[worker] != nil {
            guard let process = processes[worker] else { continue }
            for sibling in workers.keys where sibling != worker && processes[sibling] == process {
                processes[sibling] = nil
            }
        }
        for worker in expired { (workers[worker], processes[worker], isolated[worker]) = (nil, nil, nil) }
    }

    private var suspects: [Operation] { sorted.filter { $0.crashes > 0 && !$0.isEnded } }

    /// Returns the operations that the worker may start.
    mutating func admitted(
        _ worker: WorkerID, _ queue: ExactName, _ count: Int, _ kinds: [ExactName]
    ) -> [Operation] {
        let suspects = suspects
        let ids = Set(suspects.map(\.id))
        guard !suspects.isEmpty else {
            isolated[worker] = nil
            return startable(queue: queue, kinds: kinds, count: count)
        }
        let own = workers.keys.filter { $0 == worker || processes[worker] != nil && processes[$0] == processes[worker] }
        func runs(_ operation: Operation) -> Bool { operation.lease.map { own.contains($0.worker) } ?? false }
        if suspects.contains(where: runs) { return [] }
        guard let first = startable(queue: queue, kinds: kinds, count: count, where: { ids.contains($0.id) }).first
        else {
            let awaited = Set(own.filter { $0 != worker }.compactMap { isolated[$0] })
            if suspects.contains(where: { state(of: $0) == .ready && awaited.contains($0.id) }) { return [] }
            isolated[worker] = nil
            return startable(queue: queue, kinds: kinds, count: count) { !ids.contains($0.id) }
        }
        if !operations.values.contains(where: runs) {
            isolated[worker] = nil
            return [first]
        }
        let candidates = startable(queue: queue, kinds: kinds, count: .max) { ids.contains($0.id) }.map(\.id)
        let isOther = workers.contains { other, end in
            end >= now && !own.contains(other) && isolated[other].map(candidates.contains) == true
        }
        if isOther { return startable(queue: queue, kinds: kinds, count: count) { !ids.contains($0.id) } }
        isolated[worker] = first.id
        return []
    }
}

extension Reference.Operation {
    mutating func clear() { (crashes, death) = (0, nil) }
}
