public import HTTPCore
import Operations

extension HTTPBatch {
    /// The progress of the batch, by number of members and by bytes.
    public var batchProgress: BatchProgress { tally.withLock { $0.progress } }

    /// The current progress, and then each change. A slow consumer receives the latest value only. The stream ends with the
    /// batch, and its last element is complete.
    public var batchProgressUpdates: AsyncStream<BatchProgress> { subscribers.latest { batchProgress } }

    /// Notifies the subscribers of the current progress.
    func reportProgress() { subscribers.sendLatest { batchProgress } }
}
