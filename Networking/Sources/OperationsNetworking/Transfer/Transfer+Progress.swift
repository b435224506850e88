import Operations

/// The progress of a transfer in both directions.
public struct HTTPProgress: Sendable, Equatable {
    /// The number of bytes of the response body, including those of earlier attempts.
    public var received: Int64
    /// The total length of the response body; nil if the server does not state it.
    public var expected: Int64?
    /// The number of bytes of the request body that were handed to the connection.
    public var sent: Int64
    /// The total length of the request body; nil if it is unknown.
    public var toSend: Int64?

    /// Creates a progress.
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

    /// Returns a stream of the progress. A slow consumer receives the latest value only. The stream ends with the operation.
    func progressUpdates() -> AsyncStream<HTTPProgress> { madeFollowers().latest { currentProgress } }
}
