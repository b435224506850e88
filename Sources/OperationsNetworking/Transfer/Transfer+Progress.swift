#if Networking
import Operations

/// How much has gone either way (rule R6).
public struct HTTPProgress: Sendable, Equatable {
    /// Bytes of the response's body that are there, those of earlier attempts included.
    public var received: Int64
    /// nil if the server does not say how many there will be.
    public var expected: Int64?
    public var sent: Int64
    public var toSend: Int64?

    public init(received: Int64 = 0, expected: Int64? = nil, sent: Int64 = 0, toSend: Int64? = nil) {
        self.received = received
        self.expected = expected
        self.sent = sent
        self.toSend = toSend
    }
}

/// Called on the thread on which bytes have gone, without a lock.
struct ProgressFollower: Sendable {
    let tell: @Sendable (HTTPProgress) -> Void
    let end: @Sendable () -> Void
}

extension Transfer {
    var currentProgress: HTTPProgress {
        record.withLock { record in
            HTTPProgress(
                received: record.received, expected: record.expected, sent: record.sent, toSend: record.toSend)
        }
    }

    func tellProgress() {
        let followers = followers.withLock { $0 }
        guard !followers.isEmpty else { return }
        let now = currentProgress
        for follower in followers.values { follower.tell(now) }
    }

    /// From now on, until the operation has ended. Answers by what it is removed.
    @discardableResult func follow(_ follower: ProgressFollower) -> Int {
        followers.withLock { followers in
            let id = (followers.keys.max() ?? 0) + 1
            followers[id] = follower
            return id
        }
    }

    /// What is not taken in time is replaced by what is newer. Ends with the operation.
    func progressUpdates() -> AsyncStream<HTTPProgress> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: HTTPProgress.self, bufferingPolicy: .bufferingNewest(1))
        let id = follow(ProgressFollower(tell: { continuation.yield($0) }, end: { continuation.finish() }))
        continuation.onTermination = { [weak self] _ in
            let old = self?.followers.withLock { $0.removeValue(forKey: id) }
            withExtendedLifetime(old) {}
        }
        continuation.yield(currentProgress)
        if state == .finished { continuation.finish() }
        return stream
    }
}
#endif
