#if Networking
public import HTTPCore
import Operations

extension HTTPBatch {
    /// How far it is, by number and by bytes.
    public var batchProgress: BatchProgress { tally.withLock { $0.progress } }

    /// The same each time that it changes, and once at the beginning. What is not taken in time is replaced by what is
    /// newer. Ends with the batch; the last one is complete.
    public var batchProgressUpdates: AsyncStream<BatchProgress> { followers.latest { batchProgress } }

    /// Tells those who follow how far it is.
    func tell() { followers.tellLatest { batchProgress } }
}
#endif
