/// An operation to add.
package struct NewOperation: Sendable {
    /// The earliest start.
    package enum Start: Sendable, Hashable {
        case now
        case at(DurableInstant)
        case after(Duration)
    }

    /// A dependency on a stored operation, or on another member of the batch.
    package enum Dependency: Sendable, Hashable {
        case existing(OperationID)
        case member(Int)
    }

    package var name: String
    package var queue: String
    package var input: [UInt8]
    package var priority = DurablePriority.normal
    package var after: [Dependency] = []
    package var failurePolicy = DurableFailurePolicy.runAnyway
    package var retry = RetryRule.none
    package var start = Start.now
    /// The unique key, in the name space of the operation's name.
    package var unique: String?
    /// The period for which the unique key holds also after the end. Nil: the key holds until the end.
    package var uniquePeriod: Duration?
    package var uniquePolicy = DurableUniquePolicy.keep
    /// The key of a limit per key.
    package var key: String?
    package var timeout: Duration?
    /// The time after the addition at which no further attempt starts.
    package var deadline: Duration?
    package var isBarrier = false
    /// The context of the caller, for traces.
    package var context: String?
    /// Whether the running operation that adds the operation is its parent.
    package var isChild = false

    package init(name: String, queue: String, input: [UInt8] = []) {
        (self.name, self.queue, self.input) = (name, queue, input)
    }

    package func check(_ limits: DurableLimits) throws(DurableError) {
        for text in [name, queue, unique, key] {
            guard let text else { continue }
            try limits.checkName(text)
        }
        try limits.checkPayload(input, of: "input of '\(name)'")
        try retry.check()
        for duration in [timeout, deadline, uniquePeriod] {
            // In the unit that the store keeps: a shorter duration would be stored as zero.
            if let duration, duration.microseconds <= 0 {
                throw .invalidValue("a time limit or a period is below one microsecond")
            }
        }
    }

    func wakeAt(now: DurableInstant) -> DurableInstant? {
        switch start {
        case .now: nil
        case .at(let instant): instant
        case .after(let delay): now + delay
        }
    }
}

extension DurableLimits {
    package func checkName(_ name: String) throws(DurableError) {
        guard !name.isEmpty, name.utf8.count <= nameBytes else { throw .invalidName(name, limit: nameBytes) }
        // The stores separate names by line ends, and PostgreSQL stores no zero byte.
        if name.utf8.contains(where: { $0 == 10 || $0 == 0 }) {
            throw .invalidValue("the name '\(name)' contains a line end or a zero byte")
        }
    }

    package func checkPayload(_ payload: [UInt8], of subject: String) throws(DurableError) {
        guard payload.count <= payloadBytes else {
            throw .payloadTooLarge(of: subject, bytes: payload.count, limit: payloadBytes)
        }
    }
}

/// The right of a worker to run one operation, and to change it.
package struct Lease: Sendable, Hashable {
    package var operation: OperationID
    package var worker: WorkerID
    package var fence: Int64

    package init(operation: OperationID, worker: WorkerID, fence: Int64) {
        (self.operation, self.worker, self.fence) = (operation, worker, fence)
    }
}

/// Returns an order in which each member follows its dependencies. Throws `cycle` with a path.
///
/// The time is linear in members and dependencies.
package func topologicalOrder(_ batch: [NewOperation]) throws(DurableError) -> [Int] {
    if batch.allSatisfy({ $0.after.isEmpty }) { return Array(batch.indices) }
    var missing = [Int](repeating: 0, count: batch.count)
    var dependents = [[Int]](repeating: [], count: batch.count)
    for (index, member) in batch.enumerated() {
        for case .member(let dependency) in member.after {
            guard batch.indices.contains(dependency) else { throw .unknownMember(dependency) }
            missing[index] += 1
            dependents[dependency].append(index)
        }
    }
    var order = batch.indices.filter { missing[$0] == 0 }
    var next = 0
    while next < order.count {
        for dependent in dependents[order[next]] {
            missing[dependent] -= 1
            if missing[dependent] == 0 { order.append(dependent) }
        }
        next += 1
    }
    if order.count == batch.count { return order }
    // Each member that is left has a dependency that is left, so a walk along them meets a member twice.
    var path: [Int] = []
    var place: [Int: Int] = [:]
    var current = missing.firstIndex { $0 > 0 } ?? 0
    while place[current] == nil {
        place[current] = path.count
        path.append(current)
        for case .member(let dependency) in batch[current].after where missing[dependency] > 0 {
            current = dependency
            break
        }
    }
    let cycle = path[(place[current] ?? 0)...] + [current]
    throw .cycle(cycle.map { "\(batch[$0].name)#\($0)" })
}
