#if Networking
extension LoopbackServer {
    /// The requests that have come whole, in this order; of very many the latest.
    public var requests: [LoopbackRequest] { ledger.counts.value.requests }

    /// Suspends until so many requests have ever come whole, or the task is cancelled; answers ``requests``.
    @discardableResult
    public func requests(atLeast count: Int) async -> [LoopbackRequest] {
        await ledger.counts.wait { $0.requestsEver >= count }
        return requests
    }

    /// How many connections there are now.
    public var openConnections: Int { ledger.counts.value.openConnections }

    /// How many connections were ever accepted.
    public var connectionsEver: Int { ledger.counts.value.connectionsEver }

    /// Suspends until there are so many connections, or the task is cancelled.
    public func openConnections(are count: Int) async {
        await ledger.counts.wait { $0.openConnections == count }
    }

    /// How many requests are being received or answered now.
    public var requestsInFlight: Int { ledger.counts.value.inFlight }

    /// The most that ``requestsInFlight`` ever was.
    public var peakRequestsInFlight: Int { ledger.counts.value.peakInFlight }

    /// Suspends until so many requests are in flight, or the task is cancelled.
    public func requestsInFlight(are count: Int) async {
        await ledger.counts.wait { $0.inFlight == count }
    }

    /// How many bytes of bodies were handed to the system, without chunk marks and heads.
    public var bodyBytesWritten: Int64 { ledger.counts.value.bodyBytesWritten }

    /// Suspends until so many bytes of bodies were ever written, or the task is cancelled.
    public func bodyBytesWritten(atLeast count: Int64) async {
        await ledger.counts.wait { $0.bodyBytesWritten >= count }
    }
}
#endif
