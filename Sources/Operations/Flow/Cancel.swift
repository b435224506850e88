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
    /// Cancels what is in the queue at one moment (rule C5). Nothing starts meanwhile: cancelling one operation frees its
    /// dependents, and they are to be found cancelled too. O(n log n).
    func cancelAll() {
        let operations = withState { state in
            state.schedule.pause()
            return state.schedule.idsInOrder.map(Self.operation)
        }
        for operation in operations { operation.cancel() }
        let hasStartable = withState { state in
            state.schedule.goOn()
            return state.schedule.hasStartable
        }
        if hasStartable { callWorkerIfNone() }
    }
}
