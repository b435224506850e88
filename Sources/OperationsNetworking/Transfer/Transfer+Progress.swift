#if Networking
import Operations

/// How much has gone either way (rule R6).
public struct HTTPProgress: Sendable, Equatable {
    /// Bytes of the response's body that are there, those of earlier attempts included.
    public var received: Int64
    /// nil if the server does not say how many there will be.
    public var expected: Int64?
    /// Bytes of the request's body that were handed over to the connection.
    public var sent: Int64
    /// nil if nobody knows how many there will be.
    public var toSend: Int64?

    public init(received: Int64 = 0, expected: Int64? = nil, sent: Int64 = 0, toSend: Int64? = nil) {
        self.received = received
        self.expected = expected
        self.sent = sent
        self.toSend = toSend
    }
}

extension Transfer {
    var currentProgress: HTTPProgress {
        record.withLock { record in
            HTTPProgress(
                received: record.received, expected: record.expected, sent: record.sent, toSend: record.toSend)
        }
    }

    func tellProgress() { followers?.tellLatest { currentProgress } }

    /// What is not taken in time is replaced by what is newer. Ends with the operation.
    func progressUpdates() -> AsyncStream<HTTPProgress> { madeFollowers().latest { currentProgress } }
}
#endif
