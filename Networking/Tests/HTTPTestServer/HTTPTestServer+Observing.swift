extension HTTPTestServer {
    /// The complete requests in the order of arrival. The server keeps only the latest requests (see
    /// ``Configuration/keptRequests``).
    public var requests: [LoopbackRequest] { ledger.counts.value.requests }

    /// Suspends until the server has received `count` complete requests, or until the task is cancelled. Returns
    /// ``requests``.
    @discardableResult
    public func requests(atLeast count: Int) async -> [LoopbackRequest] {
        await ledger.counts.wait { $0.requestsEver >= count }
        return requests
    }

    /// The number of open connections.
    public var openConnections: Int { ledger.counts.value.openConnections }

    /// The number of connections that the server has accepted.
    public var connectionsEver: Int { ledger.counts.value.connectionsEver }

    /// Suspends until `count` connections are open, or until the task is cancelled.
    public func openConnections(are count: Int) async {
        await ledger.counts.wait { $0.openConnections == count }
    }

    /// The number of requests that the server is receiving or answering.
    public var requestsInFlight: Int { ledger.counts.value.inFlight }

    /// The maximum of ``requestsInFlight`` so far.
    public var peakRequestsInFlight: Int { ledger.counts.value.peakInFlight }

    /// Suspends until `count` requests are in flight, or until the task is cancelled.
    public func requestsInFlight(are count: Int) async {
        await ledger.counts.wait { $0.inFlight == count }
    }

    /// The number of bytes of bodies that the server has passed to the system, without heads and chunk headers.
    public var bodyBytesWritten: Int64 { ledger.counts.value.bodyBytesWritten }

    /// Suspends until the server has written `count` bytes of bodies, or until the task is cancelled.
    public func bodyBytesWritten(atLeast count: Int64) async {
        await ledger.counts.wait { $0.bodyBytesWritten >= count }
    }
}
