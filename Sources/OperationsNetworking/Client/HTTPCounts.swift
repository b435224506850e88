#if Networking
import HTTPCore
import Operations

/// How many requests of an `HTTPClientQueue` are how far (rule N4). Requests that share a transfer count as one, the first;
/// those who joined it are `coalesced`. Downloads, and the HEAD requests and members of batches, count like all others.
public struct HTTPCounts: Sendable, Hashable {
    /// For a slot, or to be tried again.
    public internal(set) var waiting = 0
    /// A transfer is under way.
    public internal(set) var running = 0
    public internal(set) var paused = 0
    /// Ever: those that ended with an answer, whatever its status.
    public internal(set) var finished = 0
    /// Ever: those that ended without one, or that could not be decoded or written.
    public internal(set) var failed = 0
    /// Ever.
    public internal(set) var cancelled = 0
    /// Ever: wishes that joined a transfer that was there already.
    public internal(set) var coalesced = 0

    /// Of a client that has done nothing yet.
    public init() {}

    /// Those that have not ended.
    public var outstanding: Int { waiting + running + paused }
    /// All that ever were, but for those coalesced.
    public var added: Int { outstanding + finished + failed + cancelled }
}

/// Counts the requests of a client.
final class RequestLedger: Sendable {
    private struct State {
        /// Those that have ended, and `coalesced`.
        var totals = HTTPCounts()
        var outstanding: [ObjectIdentifier: AnyHTTPOperation] = [:]
    }

    private let state = Locked(State())

    func added(_ operation: AnyHTTPOperation) {
        state.withLock { $0.outstanding[ObjectIdentifier(operation)] = operation }
    }

    func joined() { state.withLock { $0.totals.coalesced += 1 } }

    /// It is in another queue.
    func refused(_ operation: AnyHTTPOperation) {
        let old = state.withLock { $0.outstanding.removeValue(forKey: ObjectIdentifier(operation)) }
        withExtendedLifetime(old) {}
    }

    /// Answers whether it is one of those that are counted.
    func noted(_ kind: HTTPEvent.Kind, of operation: AnyHTTPOperation) -> Bool {
        let id = ObjectIdentifier(operation)
        guard case .finished(let failure) = kind else { return state.withLock { $0.outstanding[id] != nil } }
        let isCancelled = failure.map(HTTPError.isCancellation) ?? false
        let old = state.withLock { state -> AnyHTTPOperation? in
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

    /// Each request is in one of the counts, though some may move while they are looked at.
    var counts: HTTPCounts {
        let (totals, outstanding) = state.withLock { ($0.totals, $0.outstanding) }
        var counts = totals
        for operation in outstanding.values {
            switch operation.state {
            case .ready: counts.waiting += 1
            case .paused: counts.paused += 1
            // One whose end has not been told counts as running still.
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
    /// How many requests are how far, now. Costs time by the number of those that have not ended.
    public var counts: HTTPCounts { ledger.counts }
}
#endif
