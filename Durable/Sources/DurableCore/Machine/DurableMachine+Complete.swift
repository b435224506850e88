/// The end of one attempt.
package struct Completion: Sendable {
    /// The result of an attempt.
    package enum Result: Sendable {
        case succeeded(output: [UInt8])
        case failed(reason: String, isRetryable: Bool)
        /// The attempt stopped because of a cancellation.
        case cancelled
        /// The operation runs again after a delay, and no attempt is counted.
        case snoozed(Duration)
        case discarded(reason: String)
        /// The worker stops. The operation becomes ready, and no attempt is counted.
        case released
        /// The worker claimed the operation ahead and did not start it. The operation becomes ready at its earlier place.
        case withdrawn

        /// Whether the attempt proves that the operation does not end its process.
        package var clears: Bool {
            switch self {
            case .released, .withdrawn: false
            case .succeeded, .failed, .cancelled, .snoozed, .discarded: true
            }
        }
    }

    package var lease: Lease
    package var result: Result

    package init(lease: Lease, result: Result) { (self.lease, self.result) = (lease, result) }
}

extension DurableMachine {
    /// Completes attempts. Dependents become ready in the same transaction.
    ///
    /// - Returns: For each completion, whether the store accepted the completion. The store refuses the completion of a lost
    ///   lease. The store accepts a repetition of the completion that ended the operation, and ignores the repetition.
    package mutating func complete(_ completions: [Completion]) throws -> [Bool] {
        guard !completions.isEmpty else { return [] }
        return try event { machine in
            try machine.load(completions.lazy.map(\.lease.operation))
            return try completions.map { try machine.complete($0) }
        }
    }

    private mutating func complete(_ completion: Completion) throws -> Bool {
        let lease = completion.lease
        guard var row = work.operations[lease.operation] else { return false }
        guard row.isRunning(under: lease) else {
            // The reply to the first completion may be lost. The lease number proves that no other attempt started.
            return row.worker == lease.worker && row.fence == lease.fence
                && (row.state.isEnded || row.workOutcome != nil)
        }
        if completion.result.clears { row.clear() }
        switch completion.result {
        case .succeeded(let output) where output.count > limits.payloadBytes:
            let error = DurableError.payloadTooLarge(of: "output", bytes: output.count, limit: limits.payloadBytes)
            try endWork(&row, as: .failed, reason: "\(error)")
        case .succeeded(let output):
            if !output.isEmpty { work.changes.outputs[row.id] = output }
            try endWork(&row, as: .succeeded, reason: nil)
        case .failed(let reason, let isRetryable):
            try fail(&row, reason: reason, isRetryable: isRetryable)
        case .cancelled:
            try endWork(&row, as: .cancelled, reason: row.reason)
        case .discarded(let reason):
            try endWork(&row, as: .discarded, reason: reason)
        case .snoozed(let delay):
            row.wakeAt = now + max(delay, .zero)
            if row.isCancelRequested { try putBack(&row) } else { try settle(&row) }
        case .released:
            try putBack(&row)
        case .withdrawn:
            let readyAt = row.readyAt
            try putBack(&row)
            guard !row.state.isEnded, row.state != .finishing else { return true }
            row.readyAt = readyAt
            try put(row)
        }
        return true
    }

    /// Ends a failed attempt: the operation is retried, or ends.
    private mutating func fail(_ row: inout OperationRow, reason: String, isRetryable: Bool) throws {
        row.failures += 1
        try record(.failed, of: row, reason: reason)
        if row.isCancelRequested { return try endWork(&row, as: .cancelled, reason: reason) }
        guard isRetryable, row.failures <= row.retry.retries else {
            return try endWork(&row, as: .failed, reason: reason)
        }
        let delay = row.retry.delay(beforeRetry: Int(row.failures), seed: row.id.rawValue)
        let next = now.advanced(byMicroseconds: delay)
        if let deadline = row.deadline, deadline <= next { return try endWork(&row, as: .failed, reason: reason) }
        row.reason = cut(reason)
        row.wakeAt = next
        try settle(&row)
    }

}
