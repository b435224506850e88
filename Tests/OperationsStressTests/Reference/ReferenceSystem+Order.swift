import Operations

// Which of the operations that may start is next: priorities, their inheritance, the order of the same priority, and the
// starvation limit.
extension ReferenceSystem {
    struct Standing {
        /// The highest priority that a waiter has lent. No waiter takes it back.
        var lent = Operations.Operation.QueuePriority.veryLow.rawValue
        /// The turn in which the operation became ready.
        var readySince: Int?
        /// Whether `readySince` is its place. A changed priority, a late dependency and a pause give it another one.
        var isKnown = true
        var wasPaused = false
        /// How often in a row the operation has been passed over while it could start.
        var passes = 0
    }

    /// An operation that has to start before this one.
    func overtaken(by number: Int) -> Int? {
        guard let queue = operations[number].queue else { return nil }
        let line = front(of: queue)
        return line.first { other in
            // An operation with a key, a condition, a resource or a delay has its turn at another time.
            guard other != number, isPlain(other), obstacle(other) == nil else { return false }
            let (its, mine) = (priority(of: other), priority(of: number))
            if its != mine { return its > mine && !isDue(mine, queue: queue) }
            if !queues[queue].isLast {
                return operations[number].key == nil && line.firstIndex(of: other)! < line.firstIndex(of: number)!
            }
            // Of two service levels, the operation that arrived last is next.
            let isSameLevel = operations[number].quality == operations[other].quality
            guard isSameLevel, isPlain(number), let itsTurn = place(of: other), let myTurn = place(of: number) else {
                return false
            }
            return itsTurn > myTurn
        }
    }

    /// Counts the operations that this start passes over. Returns a message if there were too many.
    mutating func starves(by number: Int) -> String? {
        guard let queue = operations[number].queue else { return nil }
        let mine = priority(of: number)
        var starved: String?
        for other in operations.indices where operations[other].queue == queue && operations[other].phase == .waiting {
            let its = priority(of: other)
            if its < mine { queues[queue].passes[its, default: 0] += 1 }
            let isPassed = its < mine && obstacle(other) == nil
            operations[other].standing.passes = isPassed ? operations[other].standing.passes + 1 : 0
            // Up to three other priorities may be due at the same time.
            if let limit = queues[queue].starvationLimit, isSimple(queue), operations[other].standing.passes > limit + 3
            {
                starved = "operation \(other) starves"
            }
        }
        queues[queue].passes[mine] = 0
        return starved
    }

    /// Whether the starvation limit permits an operation of this priority before those of higher ones.
    private func isDue(_ priority: Int, queue: Int) -> Bool {
        guard let limit = queues[queue].starvationLimit else { return false }
        return !isSimple(queue) || queues[queue].passes[priority, default: 0] >= limit
    }

    /// Whether no operation of the queue was ever claimed and put back.
    private func isSimple(_ queue: Int) -> Bool {
        operations.indices.allSatisfy {
            operations[$0].queue != queue || isPlain($0) && !operations[$0].standing.wasPaused
        } && queues[queue].rate == nil
    }

    private func isPlain(_ number: Int) -> Bool {
        let operation = operations[number]
        return operation.key == nil && operation.needs.isEmpty && !operation.hasCondition && operation.notBefore == 0
    }

    private func place(of number: Int) -> Int? {
        let operation = operations[number]
        return operation.standing.isKnown && !operation.isCancelled ? operation.standing.readySince : nil
    }

    // MARK: - Priorities

    func priority(of number: Int, in queue: Int? = nil) -> Int {
        let operation = operations[number]
        guard let queue = operation.queue ?? queue, queues[queue].inherits else { return operation.priority }
        return max(operation.priority, operation.standing.lent)
    }

    mutating func setPriority(_ priority: Int, of number: Int) {
        if operations[number].priority != priority { operations[number].standing.isKnown = false }
        operations[number].priority = priority
    }

    /// A task waits for the operation.
    mutating func lend(_ priority: TaskPriority, to number: Int) {
        let priorities = Operations.Operation.QueuePriority.allCases.sorted { $0.rawValue < $1.rawValue }
        let rank = [TaskPriority.low, .medium, .high].count { priority >= $0 }
        lend(priorities[rank].rawValue, to: number)
    }

    /// Returns false if the operation has this priority already.
    @discardableResult
    private mutating func lend(_ priority: Int, to number: Int) -> Bool {
        guard operations[number].phase != .ended, priority > operations[number].standing.lent else { return false }
        operations[number].standing.lent = priority
        operations[number].standing.isKnown = false
        return true
    }

    /// Notes that the operation, and those that it waits for, may be lent a service level. A change of the level changes the place.
    mutating func mayBeLentLevel(_ number: Int) {
        guard operations.contains(where: { $0.quality != .default }) else { return }
        var (pending, seen) = ([number], Set<Int>())
        while let next = pending.popLast() {
            guard seen.insert(next).inserted else { continue }
            operations[next].standing.isKnown = false
            pending += operations[next].dependencies
        }
    }

    /// Every operation lends its priority to the operations that it waits for.
    mutating func passPrioritiesOn() {
        guard queues.contains(where: \.inherits) else { return }
        // Each pass follows the chains by one operation at least.
        var changed = true
        while changed {
            changed = false
            // An operation that runs does not wait for a dependency that is added then.
            for number in operations.indices
            where operations[number].phase != .ended && operations[number].phase != .running {
                let operation = operations[number]
                let lent = operation.standing.lent
                let lends = operation.phase == .waiting ? max(priority(of: number), lent) : lent
                for other in operation.dependencies where !operation.ignored.contains(other) {
                    if lend(lends, to: other) { changed = true }
                }
            }
            for number in operations.indices {
                guard let other = operations[number].awaited else { continue }
                if lend(max(priority(of: number), operations[number].standing.lent), to: other) { changed = true }
            }
        }
    }

    // MARK: - The order of one priority

    mutating func setOrder(isLast: Bool, starvationLimit: Int?, queue: Int) {
        for number in operations.indices where operations[number].queue == queue {
            operations[number].standing.passes = 0
        }
        queues[queue].starvationLimit = starvationLimit
        guard isLast != queues[queue].isLast else { return }
        queues[queue].isLast = isLast
        // The waiting operations are ordered by their arrival.
        for number in queues[queue].line.compactMap(\.operation) where operations[number].standing.readySince != nil {
            turn += 1
            operations[number].standing.readySince = turn
            operations[number].standing.isKnown = true
        }
    }

    /// Notes which operations have become ready since the last call.
    mutating func noteReadiness() {
        turn += 1
        for number in operations.indices where operations[number].phase == .waiting {
            let operation = operations[number]
            let isReady = !operation.isPaused && !waitsForDependency(number)
            let since = isReady || operation.isCancelled ? operation.standing.readySince ?? turn : nil
            operations[number].standing.readySince = since
        }
    }

    func waitsForDependency(_ number: Int) -> Bool {
        operations[number].dependencies.contains {
            operations[$0].phase != .ended && !operations[number].ignored.contains($0)
        }
    }

    /// The work has reached a point where it can pause. Returns whether it releases its slot.
    mutating func pauses(_ number: Int) -> Bool {
        guard operations[number].isPaused else { return false }
        return standsAside(number)
    }

    /// The operation does not execute any more. Returns whether it waits for its next attempt.
    mutating func beginsDelay(_ number: Int) -> Bool {
        guard let delay = operations[number].delay, standsAside(number) else { return false }
        operations[number].notBefore = now + delay
        operations[number].delay = nil
        return true
    }

    /// Returns false if the operation keeps its slot.
    private mutating func standsAside(_ number: Int) -> Bool {
        let operation = operations[number]
        guard !operation.isCancelled, operation.queue != nil, operation.phase == .running else { return false }
        operations[number].phase = .waiting
        operations[number].hasBegun = true
        operations[number].ignored = operation.dependencies
        operations[number].standing.isKnown = false
        return true
    }
}
