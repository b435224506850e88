// The side road: cancel. A waiting operation becomes ready at once and takes the flow from there.

import SchedulerCore

extension Operation {
    /// The default `cancel()`.
    final func requestCancellation() {
        guard !isFinished else { return }
        let old = word.lifecycle
        guard !old.isCancelled else { return }
        let properties: ObservedProperty = old.hasStarted ? [.isCancelled] : [.isCancelled, .isReady]
        let done = announcing(properties) { word.update { $0.cancelled() } }
        if done != nil { reconsiderReadiness() }
    }
}

extension OperationQueue {
    /// Cancels what is in the queue at one moment (rule C5). O(n log n).
    func cancelAll() {
        for operation in snapshot() { operation.cancel() }
    }
}
