import DurableCore

extension Reference {
    mutating func complete(_ completion: Completion) -> Bool {
        let lease = completion.lease
        guard var operation = running(lease) else {
            guard let operation = operations[lease.operation] else { return false }
            let isDone =
                switch operation.phase {
                case .ended, .finishing: true
                case .idle, .running, .awaitingSignal: false
                }
            return isDone && operation.worker == lease.worker && operation.fence == lease.fence
        }
        if completion.result.clears { operations[operation.id]?.clear() }
        operation = operations[operation.id] ?? operation
        switch completion.result {
        case .succeeded: endWork(operation.id, .succeeded)
        case .cancelled: endWork(operation.id, .cancelled)
        case .discarded: endWork(operation.id, .discarded)
        case .released: putBack(operation.id)
        case .withdrawn:
            putBack(operation.id)
            if operations[operation.id]?.phase == .idle { operations[operation.id]?.readyAt = operation.claimedFrom }
        case .snoozed(let delay):
            if operation.isCancelRequested {
                endWork(operation.id, .cancelled)
            } else {
                operation.becomeIdle()
                operation.wakeAt = now + delay
                operations[operation.id] = operation
            }
        case .failed(_, let isRetryable):
            operation.failures += 1
            operations[operation.id] = operation
            if operation.isCancelRequested {
                endWork(operation.id, .cancelled)
            } else if !isRetryable || operation.failures > operation.retry.retries {
                endWork(operation.id, .failed)
            } else {
                let delay = operation.retry.delay(beforeRetry: Int(operation.failures), seed: operation.id.rawValue)
                let next = now.advanced(byMicroseconds: delay)
                if let deadline = operation.deadline, deadline <= next { return endedWork(operation.id, .failed) }
                operation.becomeIdle()
                operation.wakeAt = next
                operations[operation.id] = operation
            }
        }
        return true
    }

    private mutating func endedWork(_ id: OperationID, _ state: DurableState) -> Bool {
        endWork(id, state)
        return true
    }

    mutating func endWork(_ id: OperationID, _ state: DurableState) {
        if hasChildren(id) {
            operations[id]?.phase = .finishing(state)
        } else {
            operations[id]?.end(state, now)
            if let operation = operations[id] { noteEnd(of: operation) }
        }
    }

    mutating func putBack(_ id: OperationID) {
        guard let operation = operations[id] else { return }
        if operation.isCancelRequested { return endWork(id, .cancelled) }
        operations[id]?.becomeIdle()
        operations[id]?.wakeAt = nil
    }

    /// Ends the operations that do not run, and whose deadline has passed.
    mutating func endExpired() {
        for operation in sorted where operation.deadline.map({ $0 <= now }) == true {
            switch operation.phase {
            case .idle, .awaitingSignal: endWork(operation.id, .failed)
            case .running, .finishing, .ended: break
            }
        }
        settle()
    }

    mutating func wakeDue() {
        endExpired()
        for operation in sorted {
            guard let wakeAt = operation.wakeAt, wakeAt <= now, operation.dependencies.isEmpty else { continue }
            if case .awaitingSignal = operation.phase {
                operations[operation.id]?.history += 1
                operations[operation.id]?.becomeIdle()
            }
            operations[operation.id]?.wakeAt = nil
            operations[operation.id]?.isScheduled = false
        }
    }

    mutating func cancel(_ id: OperationID) {
        var front = [id]
        var seen: Set<OperationID> = []
        while let id = front.popLast() {
            guard seen.insert(id).inserted, let operation = operations[id] else { continue }
            front += operations.values.filter { $0.parent == id && !$0.isEnded }.map(\.id)
            switch operation.phase {
            case .ended: break
            case .running, .finishing: operations[id]?.isCancelRequested = true
            case .idle, .awaitingSignal:
                operations[id]?.isCancelRequested = true
                endWork(id, .cancelled)
            }
        }
    }

    mutating func retry(_ id: OperationID) {
        guard var operation = operations[id] else { return }
        if let parent = operation.parent {
            let isOpen = operations[parent].map { !$0.isEnded } ?? false
            if !isOpen { operation.parent = nil }
        }
        operation.becomeIdle()
        (operation.failures, operation.isDoomed) = (0, false)
        operation.clear()
        (operation.wakeAt, operation.endedAt, operation.deadline) = (nil, nil, nil)
        if operation.epoch % 2 == 1 {
            queues[operation.queue, default: Queue()].lastEpoch += 2
            operation.epoch = queues[operation.queue, default: Queue()].lastEpoch - 1
        } else {
            operation.epoch = epoch(in: operation.queue, waitingFor: operation.parent)
        }
        operations[id] = operation
    }

    mutating func sleep(_ lease: Lease, _ delay: Int64, _ position: Int64) -> ProgramReply? {
        guard var operation = running(lease), position == operation.history else { return nil }
        if operation.isCancelRequested {
            endWork(operation.id, .cancelled)
            return .suspended(true)
        }
        operation.history += 1
        if delay > 0 {
            operation.clear()
            operation.becomeIdle()
            operation.wakeAt = now.advanced(byMicroseconds: delay)
        }
        operations[operation.id] = operation
        return .suspended(delay > 0)
    }

    mutating func awaitSignal(_ lease: Lease, _ name: ExactName, _ timeout: Int64?, _ position: Int64) -> ProgramReply?
    {
        guard var operation = running(lease), position == operation.history else { return nil }
        if let index = operation.signals.firstIndex(of: name) {
            operation.signals.remove(at: index)
            operation.history += 1
            operations[operation.id] = operation
            return .suspended(false)
        }
        if operation.isCancelRequested {
            endWork(operation.id, .cancelled)
            return .suspended(true)
        }
        operation.clear()
        operation.phase = .awaitingSignal(name)
        operation.wakeAt = timeout.map { now.advanced(byMicroseconds: $0) }
        operations[operation.id] = operation
        return .suspended(true)
    }

    mutating func send(_ name: ExactName, to id: OperationID) -> ProgramReply? {
        guard var operation = operations[id], !operation.isEnded else { return nil }
        if operation.phase == .awaitingSignal(name) {
            operation.history += 1
            operation.becomeIdle()
            operation.wakeAt = nil
        } else {
            operation.signals.append(name)
        }
        operations[id] = operation
        return .done
    }

    mutating func awaitOperations(_ lease: Lease, _ ids: [OperationID], _ position: Int64) -> ProgramReply? {
        guard var operation = running(lease), position == operation.history else { return nil }
        for id in ids where operations[id] == nil { return nil }
        let open = ids.filter { operations[$0]?.isEnded == false }
        var waiting = self
        waiting.operations[operation.id]?.dependencies = Set(open)
        if waiting.waitsForItself(operation.id) { return nil }
        if operation.isCancelRequested {
            endWork(operation.id, .cancelled)
            return .suspended(true)
        }
        operation.history += 1
        operations[operation.id] = operation
        if open.isEmpty { return .suspended(false) }
        operation.clear()
        operation.becomeIdle()
        operation.wakeAt = nil
        operation.dependencies = Set(open)
        operations[operation.id] = operation
        return .suspended(true)
    }

    /// The operation, and all that it waits for without barriers.
    private func awaited(by id: OperationID) -> Set<OperationID> {
        var (front, seen) = ([id], Set<OperationID>())
        while let next = front.popLast() {
            guard seen.insert(next).inserted, let operation = operations[next], !operation.isEnded else { continue }
            front += operation.dependencies
            front += operations.values.filter { $0.parent == next }.map(\.id)
        }
        return seen
    }

    /// Whether the operation waits for itself: through dependencies, children, and any number of barriers.
    func waitsForItself(_ id: OperationID) -> Bool {
        var (front, seen) = ([id], Set<OperationID>())
        while let next = front.popLast() {
            guard let operation = operations[next], !operation.isEnded else { continue }
            var others = operation.dependencies.union(operations.values.filter { $0.parent == next }.map(\.id))
            switch operation.phase {
            case .idle, .awaitingSignal:
                others.formUnion(
                    operations.values.filter { $0.queue == operation.queue && $0.epoch < operation.epoch }.map(\.id))
            case .running, .finishing, .ended: break
            }
            for other in others where operations[other]?.isEnded == false {
                if other == id { return true }
                if seen.insert(other).inserted { front.append(other) }
            }
        }
        return false
    }

    /// The last epoch of a queue, or the last one in front of a barrier that waits for the operation.
    func epoch(in queue: ExactName, waitingFor operation: OperationID?) -> Int {
        let first = firstEpoch(in: queue, waitingFor: operation)
        return first.map { $0 % 2 == 1 ? $0 - 1 : $0 } ?? queues[queue, default: Queue()].lastEpoch
    }

    /// The first epoch in a queue of an operation that waits for the operation, or of the operation itself.
    func firstEpoch(in queue: ExactName, waitingFor operation: OperationID?) -> Int? {
        guard let operation else { return nil }
        let waiting = operations.values.filter { waiting in
            waiting.queue == queue && !waiting.isEnded && awaited(by: waiting.id).contains(operation)
        }
        return waiting.map(\.epoch).min()
    }
}
