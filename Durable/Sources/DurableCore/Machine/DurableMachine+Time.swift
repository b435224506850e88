extension DurableMachine {
    /// Applies everything whose instant has passed: deadlines, wakes of operations, and wakes of keys.
    ///
    /// - Returns: Whether more may be due. The caller then repeats the event, in the same transaction or a later one.
    @discardableResult
    package mutating func wakeDue(limit: Int = 1_000) throws -> Bool {
        if try endExpired(limit: limit) { return true }
        let (ids, keys) = (try rows.operations(.due(limit: limit)), try rows.dueKeys(limit: limit))
        if ids.isEmpty, keys.isEmpty { return false }
        try event { machine in
            for var row in try machine.existingOperations(ids) {
                guard let wakeAt = row.wakeAt, wakeAt <= machine.now else { continue }
                if row.state == .awaitingSignal { try machine.timeOutSignal(&row) } else { try machine.settle(&row) }
            }
            for key in keys { try machine.put(machine.key(key)) }
        }
        return max(ids.count, keys.count) >= limit
    }

    /// Ends operations that do not run, and whose deadline has passed. Returns whether more may have expired.
    mutating func endExpired(limit: Int = 1_000) throws -> Bool {
        let ids = try rows.operations(.expired(limit: limit))
        if ids.isEmpty { return false }
        try event { machine in
            for id in ids {
                // The end of an earlier operation may have ended this one.
                guard var row = try machine.existingOperations([id]).first, !row.state.isEnded else { continue }
                try machine.endWork(&row, as: .failed, reason: row.reason ?? "the deadline passed before an attempt")
            }
        }
        return ids.count >= limit
    }
}
