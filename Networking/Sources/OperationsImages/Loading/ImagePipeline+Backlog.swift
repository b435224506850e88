import Operations
import OperationsNetworking

/// The files and thumbnails in memory that wait for decoding or for the disk. The type is a value.
struct ImageBacklog {
    let limit: Int
    private(set) var byteCount = 0

    init(limit: Int) { self.limit = max(0, limit) }

    var isFull: Bool { byteCount > limit }

    /// Adds or removes bytes. Returns whether the backlog became full or is no longer full.
    mutating func add(_ bytes: Int) -> Bool {
        let wasFull = isFull
        byteCount += bytes
        return isFull != wasFull
    }
}

// The queues of lookups and transfers wait while the backlog is full. Decodings and writes need neither lookups nor transfers,
// so that the backlog becomes shorter in any case.
extension ImagePipeline {
    /// Whether the caller has suspended the transfers.
    var isSuspended: Bool {
        get { state.withLock { $0.isSuspended } }
        set {
            state.withLock { $0.isSuspended = newValue }
            applySuspension()
        }
    }

    func addToBacklog(_ bytes: Int) {
        if state.withLock({ $0.backlog.add(bytes) }) { applySuspension() }
    }

    func applySuspension() {
        var applied: (transfers: Bool, lookups: Bool)?
        while true {
            let (transfers, lookups) = state.withLock { ($0.isSuspended || $0.backlog.isFull, $0.backlog.isFull) }
            // The loop checks again after a change, because a concurrent call can apply an older state later.
            if let applied, applied == (transfers, lookups) { return }
            (client.isSuspended, self.lookups.isSuspended) = (transfers, lookups)
            applied = (transfers, lookups)
        }
    }
}
