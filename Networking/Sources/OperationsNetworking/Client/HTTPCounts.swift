import HTTPCore
import Operations

/// The number of requests of an `HTTPClientQueue` by state.
///
/// Requests that share a transfer count as one. Each request that joins a transfer adds 1 to `coalesced`. Downloads, batch
/// members, the HEAD requests of batches, and revalidations in the background count like all other requests.
public struct HTTPCounts: Sendable, Hashable {
    /// Requests that wait for a slot or for a retry.
    public internal(set) var waiting = 0
    /// Requests whose transfer is running.
    public internal(set) var running = 0
    /// Requests that are paused.
    public internal(set) var paused = 0
    /// All requests so far that succeeded. A request of `load`, `get` and similar functions succeeds with any response, even if
    /// its value cannot be decoded.
    public internal(set) var finished = 0
    /// All requests so far that ended without a response. Downloads and existing operations also fail if their response is
    /// rejected, or cannot be decoded or written.
    public internal(set) var failed = 0
    /// All requests so far that were cancelled.
    public internal(set) var cancelled = 0
    /// All requests so far that joined an existing transfer.
    public internal(set) var coalesced = 0

    /// Creates the counts of a new client.
    public init() {}

    /// The requests that have not ended.
    public var outstanding: Int { waiting + running + paused }
    /// All requests so far, without the coalesced ones.
    public var added: Int { outstanding + finished + failed + cancelled }
}

/// The record of the requests of a client.
final class RequestLedger: Sendable {
    private struct State {
        /// The counts of requests that have ended, and `coalesced`.
        var totals = HTTPCounts()
        var outstanding: [ObjectIdentifier: HTTPOperation] = [:]
    }

    private let state = Locked(State())

    func added(_ operation: HTTPOperation) {
        state.withLock { $0.outstanding[ObjectIdentifier(operation)] = operation }
    }

    func joined() { state.withLock { $0.totals.coalesced += 1 } }

    /// Removes an operation that is in another queue.
    func refused(_ operation: HTTPOperation) {
        let old = state.withLock { $0.outstanding.removeValue(forKey: ObjectIdentifier(operation)) }
        withExtendedLifetime(old) {}
    }

    /// Records an event. Returns whether the ledger counts the operation.
    func noted(_ kind: HTTPEvent.Kind, of operation: HTTPOperation) -> Bool {
        let id = ObjectIdentifier(operation)
        guard case .finished(let failure) = kind else { return state.withLock { $0.outstanding[id] != nil } }
        let isCancelled = failure.map(HTTPError.isCancellation) ?? false
        let old = state.withLock { state -> HTTPOperation? in
            guard let old = state.outstanding.removeValue(forKey: id) else { return nil }
            switch failure {
            case nil: state.totals.finished += 1
            case _ where isCancelled: state.totals.cancelled += 1
            default: state.totals.failed += 1
            }
            return old
        }
        defer { withExtendedLifetime(old) {} }
        return old != nil
    }

    /// The current counts. Each request appears in exactly one count, though its state may change during the call.
    var counts: HTTPCounts {
        let (totals, outstanding) = state.withLock { ($0.totals, $0.outstanding) }
        var counts = totals
        for operation in outstanding.values {
            switch operation.state {
            case .ready: counts.waiting += 1
            case .paused: counts.paused += 1
            // An operation whose end was not reported yet still counts as running.
            case .executing, .finished: counts.running += 1
            }
        }
        return counts
    }
}

extension HTTPError {
    static func isCancellation(_ error: any Error) -> Bool {
        if case .cancelled? = (error as? HTTPError)?.reason { return true }
        return error is CancellationError
    }
}

extension HTTPClientQueue {
    /// The number of requests by state. The cost is linear in the number of requests that have not ended.
    public var counts: HTTPCounts { ledger.counts }
}
