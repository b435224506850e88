extension DurableMachine {
    /// Ends an operation. `propagateEnds` notifies its dependents and its parent in the same event.
    mutating func end(_ row: inout OperationRow, as state: DurableState, reason: String?) throws {
        row.state = state
        row.reason = reason.map(cut)
        (row.endedAt, row.purgeAt, row.wakeAt, row.signal) = (now, now + limits.retention, nil, nil)
        row.isCancelRequested = false
        row.workOutcome = nil
        try put(row)
        work.ended.append(row.id)
    }

    /// Ends the work of an operation: the operation ends, or waits for the ends of its children.
    mutating func endWork(_ row: inout OperationRow, as state: DurableState, reason: String?) throws {
        guard row.children > 0 else { return try end(&row, as: state, reason: reason) }
        // A program of an earlier version does not know `crashed`. The number of crashes distinguishes it from a failure.
        if state != .crashed { row.clear() }
        (row.state, row.workOutcome, row.reason) = (.finishing, state == .crashed ? .failed : state, reason.map(cut))
        try put(row)
    }

    /// Notifies dependents and parents of ended operations, round by round. A chain of failures may have any length.
    mutating func propagateEnds() throws {
        while !work.ended.isEmpty {
            let ended = work.ended.sorted()
            work.ended = []
            let edges = try subtractPending(rows.removeEdges(from: ended))
            let parents = ended.compactMap { work.operations[$0]?.parent }
            try load(edges.lazy.map(\.dependent))
            try load(parents)
            for edge in edges {
                guard let dependency = work.operations[edge.dependency] else { continue }
                try release(edge, by: dependency)
            }
            for parent in parents { try childEnded(of: parent) }
        }
    }

    /// Notifies dependents that wait for further dependencies, and whose other fields stay the same.
    ///
    /// These dependents are most of all in a graph, and need not be loaded. The history of a running operation that waits keeps
    /// the end.
    ///
    /// - Returns: The edges to all other dependents.
    private mutating func subtractPending(_ edges: [Edge]) throws -> [Edge] {
        var counts: [OperationID: Int64] = [:]
        var others: Set<OperationID> = []
        for edge in edges {
            let isPlain = !edge.isAwait && work.operations[edge.dependency]?.state == .succeeded
            if isPlain, work.operations[edge.dependent] == nil {
                counts[edge.dependent, default: 0] += 1
            } else {
                others.insert(edge.dependent)
            }
        }
        let plain = counts.lazy.filter { !others.contains($0.key) }
            .map { PendingCount(operation: $0.key, ended: $0.value) }.sorted { $0.operation < $1.operation }
        if plain.isEmpty { return edges }
        others.formUnion(try rows.subtractPending(plain))
        return edges.filter { others.contains($0.dependent) }
    }

    private mutating func release(_ edge: Edge, by dependency: OperationRow) throws {
        guard var row = work.operations[edge.dependent] else { return }
        row.pending -= 1
        if edge.isAwait {
            // A wait that begins again has an earlier entry, and later entries have results of their own.
            let name = HistoryEntry.nameOfWait(for: dependency.id)
            let wait = try rows.history(of: [row.id]).last {
                $0.kind == .operations && $0.name == name && $0.result?.isEmpty != false
            }
            if let wait { try recordEnd(of: dependency, at: wait.position, of: row) }
        } else {
            row.noteOutcome(of: dependency)
        }
        if row.state == .waiting, row.pending == 0 { try settle(&row) } else { try put(row) }
    }

    private mutating func childEnded(of parent: OperationID) throws {
        guard var row = work.operations[parent], !row.state.isEnded else { return }
        row.children -= 1
        if row.state == .finishing, row.children == 0, let outcome = row.workOutcome {
            let state = outcome == .failed && row.crashes >= limits.maxCrashes ? DurableState.crashed : outcome
            try end(&row, as: row.isCancelRequested ? .cancelled : state, reason: row.reason)
        } else {
            try put(row)
        }
    }

    /// Cuts a text at the limit, at the end of a character.
    func cut(_ text: String) -> String {
        guard text.utf8.count > limits.reasonBytes else { return text }
        var (bytes, end) = (0, text.startIndex)
        while end < text.endIndex {
            bytes += text[end].utf8.count
            if bytes > limits.reasonBytes { break }
            end = text.index(after: end)
        }
        return String(text[..<end])
    }
}

extension OperationRow {
    /// Keeps the root cause if the failure policy reacts to the outcome of the dependency.
    mutating func noteOutcome(of dependency: OperationRow) {
        guard dependency.state != .succeeded, failurePolicy != .runAnyway, rootCause == nil, !state.isEnded else {
            return
        }
        let cause = dependency.rootCause ?? dependency.id
        rootCause = cause
        let text = dependency.reason.map { ": \($0)" } ?? ""
        reason =
            dependency.rootCause == nil ? "operation \(cause) ended as \(dependency.state)\(text)" : dependency.reason
    }
}
