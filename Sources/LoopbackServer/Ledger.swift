#if Networking
/// What the server has seen and done so far, counted.
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

    /// - Parameter kept: how many requests are kept, the latest.
    init(kept: Int) { self.kept = max(0, kept) }

    /// A connection was accepted. Answers its ordinal.
    func connectionOpened() -> Int {
        counts.change {
            $0.connectionsEver += 1
            $0.openConnections += 1
            return $0.connectionsEver
        }
    }

    func connectionClosed() { counts.change { $0.openConnections -= 1 } }

    /// The head of a request came. Answers its number. `requestEnded` has to follow once.
    func requestBegan() -> Int {
        counts.change {
            $0.heads += 1
            $0.inFlight += 1
            $0.peakInFlight = max($0.peakInFlight, $0.inFlight)
            return $0.heads
        }
    }

    /// A request has come whole.
    func requestArrived(_ request: LoopbackRequest) {
        counts.change {
            $0.requestsEver += 1
            $0.requests.append(request)
            // In halves, so that a long run does not move the rest at each request.
            if $0.requests.count > 2 * kept { $0.requests.removeFirst($0.requests.count - kept) }
        }
    }

    /// A request was answered, or its connection is gone.
    func requestEnded() { counts.change { $0.inFlight -= 1 } }

    func wrote(_ bytes: Int) { counts.change { $0.bodyBytesWritten += Int64(bytes) } }
}
#endif
