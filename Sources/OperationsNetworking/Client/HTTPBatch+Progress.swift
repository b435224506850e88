#if Networking
public import HTTPCore
import Operations

extension HTTPBatch {
    /// How far it is, by number and by bytes.
    public var batchProgress: BatchProgress { counting.withLock { $0.tally.progress } }

    /// The same each time that it changes, and once at the beginning. What is not taken in time is replaced by what is
    /// newer. Ends with the batch; the last one is complete.
    public var batchProgressUpdates: AsyncStream<BatchProgress> {
        followers.stream(.bufferingNewest(1), first: batchProgress)
    }

    /// Tells those who follow how far it is, one thread at a time.
    func tell() {
        let isMine = counting.withLock { counting in
            if counting.isTelling { counting.isNews = true }
            defer { counting.isTelling = true }
            return !counting.isTelling
        }
        guard isMine else { return }
        while true {
            followers.tell(batchProgress)
            let isOver = counting.withLock { counting in
                if !counting.isNews { counting.isTelling = false }
                defer { counting.isNews = false }
                return !counting.isNews
            }
            if isOver { return }
        }
    }
}
#endif
