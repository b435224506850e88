/// The reply to a request of a running operation to wait.
package enum WaitReply: Sendable, Hashable {
    /// The wait is over. The result is nil for a wait without a value.
    case resumed([UInt8]?)
    /// The worker lost the lease on request. The operation runs again when the wait is over.
    case suspended
}

extension DurableMachine {
    /// Records the result of a step at the end of the history.
    ///
    /// A repetition of the last step of the history has no effect.
    ///
    /// - Throws: `leaseLost`, `payloadTooLarge`, or `historyMismatch` if the history has another entry at the position.
    package mutating func recordStep(
        _ name: String, result: [UInt8], position: Int64, by lease: Lease
    ) throws {
        try event { machine in
            try machine.limits.checkName(name)
            try machine.limits.checkPayload(result, of: "result of step '\(name)'")
            var row = try machine.leased(lease)
            let entry = HistoryEntry(operation: row.id, position: position, kind: .step, name: name, result: result)
            if try machine.repetition(of: entry, in: row) != nil { return }
            try machine.append(entry, to: &row)
            try machine.put(row)
        }
    }

    /// Records that the operation caught the error of a call. The kind is that of the failure.
    package mutating func recordFailure(
        _ kind: HistoryEntry.Kind, _ name: String, reason: String, position: Int64, by lease: Lease
    ) throws {
        try event { machine in
            var row = try machine.leased(lease)
            let entry = HistoryEntry(
                operation: row.id, position: position, kind: kind, name: name, result: Array(machine.cut(reason).utf8))
            if try machine.repetition(of: entry, in: row) != nil { return }
            try machine.append(entry, to: &row)
            try machine.put(row)
        }
    }

    /// Adds operations from a running operation, and records the identifiers in the history.
    ///
    /// The history makes the addition happen once, however many attempts request it.
    package mutating func add(_ batch: [NewOperation], position: Int64, by lease: Lease) throws -> [OperationID] {
        try event { machine in
            let name = batch.first?.name ?? "nothing"
            let entry = HistoryEntry(
                operation: lease.operation, position: position, kind: .add, name: name, result: nil)
            if let stored = try machine.repetition(of: entry, in: machine.leased(lease)) {
                return HistoryEntry.ids(stored.result)
            }
            let ids = try machine.addMembers(batch, by: lease)
            var row = try machine.operation(lease.operation)
            try machine.append(row.entry(.add, name, HistoryEntry.result(ids)), to: &row)
            try machine.put(row)
            return ids
        }
    }

    /// Releases the lease until an instant.
    package mutating func sleep(
        until wake: NewOperation.Start, name: String, position: Int64, by lease: Lease
    ) throws -> WaitReply {
        try event { machine in
            var row = try machine.leased(lease)
            let entry = HistoryEntry(operation: row.id, position: position, kind: .sleep, name: name, result: nil)
            if try machine.repetition(of: entry, in: row) != nil { return .resumed(nil) }
            if row.isCancelRequested { return try machine.stopInsteadOfWait(&row) }
            try machine.append(entry, to: &row)
            switch wake {
            case .now: row.wakeAt = nil
            case .at(let instant): row.wakeAt = instant
            case .after(let delay): row.wakeAt = machine.now + delay
            }
            guard let wakeAt = row.wakeAt, wakeAt > machine.now else {
                row.wakeAt = nil
                try machine.put(row)
                return .resumed(nil)
            }
            row.clear()
            try machine.settle(&row)
            return .suspended
        }
    }

    /// Consumes the signal, or releases the lease until a caller sends the signal.
    package mutating func awaitSignal(
        _ name: String, timeout: Duration?, position: Int64, by lease: Lease
    ) throws -> WaitReply {
        try event { machine in
            try machine.limits.checkName(name)
            var row = try machine.leased(lease)
            let entry = HistoryEntry(operation: row.id, position: position, kind: .signal, name: name, result: nil)
            if let stored = try machine.repetition(of: entry, in: row) { return .resumed(stored.result) }
            guard position == row.historyCount else { throw entry.mismatch(count: row.historyCount) }
            if let signal = try machine.rows.signal(name, for: row.id) {
                machine.work.changes.consumedSignals.append(signal)
                try machine.append(row.entry(.signal, name, signal.payload), to: &row)
                try machine.put(row)
                return .resumed(signal.payload)
            }
            row.clear()
            row.signal = name
            row.wakeAt = timeout.map { machine.now + $0 }
            row.state = .awaitingSignal
            if row.isCancelRequested { try machine.putBack(&row) } else { try machine.put(row) }
            return .suspended
        }
    }

    /// Sends a signal to an operation. The store keeps the signal until a wait consumes it.
    ///
    /// - Throws: `unknownOperation` or `operationEnded`.
    package mutating func send(_ name: String, _ payload: [UInt8], to id: OperationID) throws {
        try event { machine in
            try machine.limits.checkName(name)
            try machine.limits.checkPayload(payload, of: "signal '\(name)'")
            var row = try machine.operation(id)
            if row.state.isEnded { throw DurableError.operationEnded(id, row.state) }
            if row.state == .awaitingSignal, row.signal.map(ExactName.init) == ExactName(name) {
                try machine.append(row.entry(.signal, name, payload), to: &row)
                row.signal = nil
                try machine.makeReady(&row)
            } else {
                let number = try machine.rows.nextSignalNumber(for: id)
                machine.work.changes.signals.append(
                    SignalRow(operation: id, name: name, number: number, payload: payload))
                machine.work.isChanged = true
            }
        }
    }

    /// Releases the lease until the operations have ended. The history entry of the wait then has the last end.
    ///
    /// - Returns: The end as the result, if the operations have ended.
    /// - Throws: `unknownOperation`, or `cycle` if one of the operations waits for this operation.
    package mutating func awaitOperations(
        _ ids: [OperationID], name: String, position: Int64, by lease: Lease
    ) throws -> WaitReply {
        try event { machine in
            var row = try machine.leased(lease)
            let entry = HistoryEntry(operation: row.id, position: position, kind: .operations, name: name, result: [])
            let stored = try machine.repetition(of: entry, in: row)
            if let end = stored?.result, !end.isEmpty { return .resumed(end) }
            let operations = try machine.existingOperations(ids)
            let awaited = operations.filter { !$0.state.isEnded }
            try machine.checkNoCycle(from: row, to: Set(awaited.map(\.id)))
            if row.isCancelRequested { return try machine.stopInsteadOfWait(&row) }
            // An earlier version of the library records no end, so that the stored entry may have none. The wait begins again.
            if stored == nil { try machine.append(entry, to: &row) }
            if awaited.isEmpty {
                try machine.put(row)
                let end = try operations.last.map { try machine.recordEnd(of: $0, at: position, of: row) }
                return .resumed(end?.bytes)
            }
            for dependency in awaited {
                row.pending += 1
                machine.work.changes.edges.append(
                    Edge(dependency: dependency.id, dependent: row.id, isAwait: true))
            }
            row.clear()
            try machine.settle(&row)
            return .suspended
        }
    }

    /// Records the end of an awaited operation in the history entry of the wait, unless the end is large.
    ///
    /// The awaited operation may be purged, or may run again, before an attempt needs its end.
    @discardableResult
    mutating func recordEnd(of operation: OperationRow, at position: Int64, of row: OperationRow) throws -> AwaitedEnd {
        var end = AwaitedEnd(state: operation.state, content: Array((operation.reason ?? "").utf8))
        if end.state == .succeeded {
            end.content = try work.changes.outputs[operation.id] ?? rows.output(of: operation.id) ?? []
        }
        // Each attempt loads the whole history, so that it does not keep large outputs.
        if end.content.count <= AwaitedEnd.recordedBytes {
            // The stored entry keeps its name.
            work.changes.history.append(
                HistoryEntry(operation: row.id, position: position, kind: .operations, name: "", result: end.bytes))
            work.isChanged = true
        }
        return end
    }

    /// Ends an operation whose cancellation is requested. The history has no entry for the wait, so that a retry waits.
    private mutating func stopInsteadOfWait(_ row: inout OperationRow) throws -> WaitReply {
        try putBack(&row)
        return .suspended
    }

    /// Ends the wait of an operation for a signal that did not arrive.
    mutating func timeOutSignal(_ row: inout OperationRow) throws {
        try append(row.entry(.signal, row.signal ?? "", nil), to: &row)
        row.signal = nil
        try makeReady(&row)
    }

    private mutating func append(_ entry: HistoryEntry, to row: inout OperationRow) throws {
        guard entry.position == row.historyCount else { throw entry.mismatch(count: row.historyCount) }
        row.historyCount += 1
        work.changes.history.append(entry)
    }

    /// Returns the stored entry if an earlier request stored the entry and the reply was lost.
    ///
    /// - Throws: `historyMismatch` if another entry has the position.
    private mutating func repetition(of entry: HistoryEntry, in row: OperationRow) throws -> HistoryEntry? {
        guard entry.position < row.historyCount else { return nil }
        let stored = try rows.history(of: [row.id]).first { $0.position == entry.position }
        if let stored, stored.answers(entry.kind, entry.name) { return stored }
        throw DurableError.historyMismatch(
            position: Int(entry.position), stored: stored?.label ?? "no entry", current: entry.label)
    }

}

extension OperationRow {
    /// The next entry of the history.
    func entry(_ kind: HistoryEntry.Kind, _ name: String, _ result: [UInt8]?) -> HistoryEntry {
        HistoryEntry(operation: id, position: historyCount, kind: kind, name: name, result: result)
    }
}

extension HistoryEntry {
    fileprivate func mismatch(count: Int64) -> DurableError {
        .historyMismatch(position: Int(position), stored: "\(count) entries", current: label)
    }

    /// Returns the stored form of identifiers: a list in JSON.
    package static func result(_ ids: [OperationID]) -> [UInt8] {
        Array("[\(ids.map(\.description).joined(separator: ","))]".utf8)
    }

    /// Returns the identifiers of the stored form.
    package static func ids(_ result: [UInt8]?) -> [OperationID] {
        let text = String(decoding: result ?? [], as: UTF8.self).dropFirst().dropLast()
        return text.split(separator: ",").compactMap { Int64($0).map { OperationID($0) } }
    }
}
