// The side road: cancel. A waiting operation becomes ready at once and takes the flow from there.

import SchedulerCore

extension Operation {
    /// The default `cancel()`.
    final func requestCancellation() {
        guard !isFinished else { return }
        guard !word.lifecycle.isCancelled else { return }
        guard announcing([.isCancelled], { word.update { $0.cancelled() } }) != nil else { return }
        announceReadiness()
        reconsiderReadiness()
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
