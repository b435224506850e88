/// Counts of the requests, connections and bytes of a server.
final class Ledger: Sendable {
    struct Counts: Sendable {
        var requests: [LoopbackRequest] = []
        var requestsEver = 0
        var heads = 0
        var connectionsEver = 0
        var openConnections = 0
        var inFlight = 0
        var peakInFlight = 0
        var bodyBytesWritten: Int64 = 0
    }

    let counts = Watched(Counts())
    private let kept: Int

    /// - Parameter kept: The number of recent requests that the ledger keeps.
    init(kept: Int) { self.kept = max(0, kept) }

    /// Counts an accepted connection and returns its ordinal number.
    func connectionOpened() -> Int {
        counts.change {
            $0.connectionsEver += 1
            $0.openConnections += 1
            return $0.connectionsEver
        }
    }

    func connectionClosed() { counts.change { $0.openConnections -= 1 } }

    /// Counts the head of a request and returns the request's number. The caller must call `requestEnded` once
    /// afterwards.
    func requestBegan() -> Int {
        counts.change {
            $0.heads += 1
            $0.inFlight += 1
            $0.peakInFlight = max($0.peakInFlight, $0.inFlight)
            return $0.heads
        }
    }

    /// Counts a complete request.
    func requestArrived(_ request: LoopbackRequest) {
        counts.change {
            $0.requestsEver += 1
            $0.requests.append(request)
            // The array drops half of its elements at once, so that a request in a long run rarely moves the others.
            if $0.requests.count > 2 * kept { $0.requests.removeFirst($0.requests.count - kept) }
        }
    }

    /// Counts the end of a request, by an answer or by the end of its connection.
    func requestEnded() { counts.change { $0.inFlight -= 1 } }

    func wrote(_ bytes: Int) { counts.change { $0.bodyBytesWritten += Int64(bytes) } }
}
