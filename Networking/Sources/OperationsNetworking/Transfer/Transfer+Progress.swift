import HTTPCore
import Operations

/// The progress of a transfer in both directions.
package struct HTTPProgress: Sendable, Equatable {
    package var received: Int64 = 0
    package var expected: Int64?
    package var sent: Int64 = 0
    package var toSend: Int64?

    package var download: TransferProgress { TransferProgress(completedBytes: received, totalBytes: expected) }
    package var upload: TransferProgress { TransferProgress(completedBytes: sent, totalBytes: toSend) }
}

extension Transfer {
    var currentProgress: HTTPProgress {
        record.withLock { record in
            HTTPProgress(
                received: record.received, expected: record.expected, sent: record.sent, toSend: record.toSend)
        }
    }

    func reportProgress() { subscribers?.sendLatest { currentProgress } }

    /// Returns a stream of the progress. A slow consumer receives the latest value only. The stream ends with the operation.
    func progressUpdates() -> AsyncStream<HTTPProgress> { progressBroadcast().latest { currentProgress } }
}
