import DurableCore

extension Reference {
    /// Applies an event. An event that the rules refuse changes nothing.
    package mutating func reply(to event: ProgramEvent) -> ProgramReply {
        let before = self
        guard let reply = applied(event) else {
            self = before
            return .refused
        }
        settle()
        return reply
    }

    private mutating func applied(_ event: ProgramEvent) -> ProgramReply? {
        switch event {
        case .add(let batch, let lease): return add(batch, by: lease)
        case .register:
            lastWorker += 1
            workers[WorkerID(lastWorker)] = now + DurableMachine.programLease
            processes[WorkerID(lastWorker)] = DurableMachine.programProcess(at: now)
            return .worker(WorkerID(lastWorker))
        case .heartbeat(let worker):
            guard let end = workers[worker] else { return nil }
            workers[worker] = max(end, now + DurableMachine.programLease)
        case .leave(let worker):
            for operation in sorted where operation.lease?.worker == worker { putBack(operation.id) }
            (workers[worker], processes[worker], isolated[worker]) = (nil, nil, nil)
        case .claim(let worker, let queue, let count, let kinds):
            guard workers[worker] != nil else { return nil }
            endExpired()
            return .leases(claim(worker, ExactName(queue), count, kinds.map(ExactName.init)))
        case .complete(let completion): return .accepted(complete(completion))
        case .advance(let distance, let wakes):
            now = now.advanced(byMicroseconds: distance)
            if wakes { wakeDue() }
        case .expireLeases:
            expire(workers.filter { $0.value < now }.keys.sorted())
        case .wakeDue: wakeDue()
        case .cancel(let id):
            guard operations[id] != nil else { return nil }
            cancel(id)
        case .discard(let id):
            guard isIdle(id) else { return nil }
            endWork(id, .discarded)
        case .retry(let id):
            guard case .ended(let state)? = operations[id]?.phase, state != .succeeded else { return nil }
            retry(id)
            if waitsForItself(id) { return nil }
        case .move(let id, let name):
            guard isIdle(id) else { return nil }
            let queue = ExactName(name)
            if operations[id]?.queue != queue {
                let epoch = epoch(in: queue, waitingFor: id)
                operations[id]?.queue = queue
                operations[id]?.epoch = epoch
                if waitsForItself(id) { return nil }
            }
        case .setPriority(let id, let priority):
            guard operations[id]?.isEnded == false else { return nil }
            operations[id]?.priority = priority.rawValue
        case .setSuspended(let isSuspended, let queue):
            queues[ExactName(queue), default: Queue()].isSuspended = isSuspended
        case .setLimit(let limit, let queue): queues[ExactName(queue), default: Queue()].limit = limit
        case .setLimitPerKey(let limit, let queue): queues[ExactName(queue), default: Queue()].limitPerKey = limit
        case .setLimitOfKey(let limit, let key, let queue):
            queues[ExactName(queue), default: Queue()].limits[ExactName(key)] = limit
        case .setRatePerKey(let rate, let queue):
            queues[ExactName(queue), default: Queue()].setRates { $0.ratePerKey = rate }
        case .setRateOfKey(let rate, let key, let queue):
            queues[ExactName(queue), default: Queue()].setRates { $0.rates[ExactName(key)] = rate }
        case .observe: break
        case .step(let lease, let position):
            guard running(lease) != nil else { return nil }
            if operations[lease.operation]?.history == position { operations[lease.operation]?.history += 1 }
        case .sleep(let lease, let delay, let position): return sleep(lease, delay, position)
        case .awaitSignal(let lease, let name, let timeout, let position):
            return awaitSignal(lease, ExactName(name), timeout, position)
        case .send(let name, let id): return send(ExactName(name), to: id)
        case .awaitOperations(let lease, let ids, let position): return awaitOperations(lease, ids, position)
        case .purge:
            for operation in sorted where operation.endedAt.map({ $0 + limits.retention <= now }) == true {
                if uniques.values.contains(where: { $0.0 == operation.id && $0.until.map { $0 > now } == true }) {
                    continue
                }
                operations[operation.id] = nil
                uniques = uniques.filter { $0.value.0 != operation.id }
            }
        }
        return .done
    }

    private mutating func add(_ batch: [NewOperation], by lease: Lease?) -> ProgramReply? {
        if let lease, running(lease) == nil { return nil }
        for member in batch where member.isChild {
            guard let lease, !member.after.contains(.existing(lease.operation)) else { return nil }
            if member.isBarrier, firstEpoch(in: ExactName(member.queue), waitingFor: lease.operation) != nil {
                return nil
            }
        }
        for index in batch.indices {
            for case .existing(let id) in batch[index].after where operations[id] == nil { return nil }
        }
        var ids: [OperationID] = []
        var isNew: [Bool] = []
        var next = idLimit.rawValue
        var replacements: [(id: OperationID, member: NewOperation)] = []
        for member in batch {
            let unique = member.unique.map { Unique(kind: ExactName(member.name), key: ExactName($0)) }
            if let unique, let holder = uniques[unique], let operation = operations[holder.0],
                !operation.isEnded || holder.until.map({ $0 > now }) == true
            {
                if member.uniquePolicy == .reject { return nil }
                if member.uniquePolicy == .replace { replacements.append((holder.0, member)) }
                ids.append(holder.0)
                isNew.append(false)
                continue
            }
            let id = OperationID(next)
            next += 1
            if let unique { uniques[unique] = (id, member.uniquePeriod.map { now + $0 }) }
            // A placeholder, so that a later member with the unique key finds its holder.
            operations[id] = Operation(
                id: id, queue: ExactName(member.queue), kind: ExactName(member.name), epoch: 0,
                priority: member.priority.rawValue,
                policy: member.failurePolicy, retry: member.retry)
            ids.append(id)
            isNew.append(true)
        }
        let resolved = resolved(batch, isNew, ids)
        guard let order = try? topologicalOrder(resolved) else { return nil }
        for index in order where isNew[index] { insert(batch[index], ids[index], ids, lease) }
        // A member that its failure policy ends at once is not replaced.
        settle()
        for (id, member) in replacements { replace(id, member) }
        // A member that its failure policy ends at once waits for nothing.
        settle()
        if let lease, waitsForItself(lease.operation) { return nil }
        idLimit = OperationID(next)
        return .ids(ids)
    }

    private func resolved(_ batch: [NewOperation], _ isNew: [Bool], _ ids: [OperationID]) -> [NewOperation] {
        batch.indices.map { index in
            var member = batch[index]
            member.after =
                isNew[index]
                ? member.after.map { dependency in
                    guard case .member(let index) = dependency, !isNew[index] else { return dependency }
                    if let first = ids.firstIndex(of: ids[index]), first != index { return .member(first) }
                    return .existing(ids[index])
                } : []
            return member
        }
    }

    private mutating func insert(_ member: NewOperation, _ id: OperationID, _ ids: [OperationID], _ lease: Lease?) {
        guard var operation = operations[id] else { return }
        let queue = operation.queue
        if member.isBarrier { queues[queue, default: Queue()].lastEpoch += 1 }
        operation.epoch = queues[queue, default: Queue()].lastEpoch
        if member.isBarrier { queues[queue, default: Queue()].lastEpoch += 1 }
        if member.isChild, let lease, let parent = operations[lease.operation] {
            operation.parent = parent.id
            if !member.isBarrier {
                operation.epoch = epoch(in: queue, waitingFor: parent.id)
            }
        }
        operation.key = member.key.map(ExactName.init)
        operation.deadline = member.deadline.map { now + $0 }
        operation.wakeAt = wakeAt(of: member)
        for dependency in member.after {
            let dependency =
                switch dependency {
                case .existing(let id): id
                case .member(let index): ids[index]
                }
            operation.dependencies.insert(dependency)
            if operations[dependency]?.isEnded == false { dooming[id, default: []].insert(dependency) }
            if case .ended(let state)? = operations[dependency]?.phase, state != .succeeded,
                operation.policy != .runAnyway
            {
                operation.isDoomed = true
            }
        }
        operations[id] = operation
    }

    private func wakeAt(of member: NewOperation) -> DurableInstant? {
        switch member.start {
        case .now: nil
        case .at(let instant): instant
        case .after(let delay): now + delay
        }
    }

    private mutating func replace(_ id: OperationID, _ member: NewOperation) {
        guard var operation = operations[id], operation.phase == .idle, operation.fence == 0 else { return }
        (operation.priority, operation.retry) = (member.priority.rawValue, member.retry)
        operation.deadline = member.deadline.map { now + $0 }
        let wakeAt = wakeAt(of: member)
        if operation.readyAt == nil || wakeAt.map({ $0 > now }) == true {
            (operation.readyAt, operation.wakeAt, operation.isScheduled) = (nil, wakeAt, false)
        }
        operations[id] = operation
    }

    private mutating func claim(_ worker: WorkerID, _ queue: ExactName, _ count: Int, _ kinds: [ExactName]) -> [Lease] {
        admitted(worker, queue, count, kinds).compactMap { operation in
            var operation = operation
            (operation.phase, operation.worker) = (.running, worker)
            operation.fence += 1
            (operation.claimedFrom, operation.readyAt) = (operation.readyAt, nil)
            operations[operation.id] = operation
            if let key = operation.key, let rate = queues[queue]?.rates[key] ?? queues[queue]?.ratePerKey {
                let filledAt = rate.filledAt(afterStarts: 1, filledAt: queues[queue]?.filledAt[key], now: now)
                queues[queue]?.filledAt[key] = filledAt
            }
            return operation.lease
        }
    }

    /// Returns the running operation of a lease.
    func running(_ lease: Lease) -> Operation? {
        guard let operation = operations[lease.operation], operation.lease == lease else { return nil }
        return operation
    }

    private func isIdle(_ id: OperationID) -> Bool {
        switch operations[id]?.phase {
        case .idle, .awaitingSignal: true
        case .running, .finishing, .ended, nil: false
        }
    }
}
