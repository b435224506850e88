import Dispatch
import Foundation

/// A list of requests that one serial queue handles in groups.
///
/// Requests that arrive while the queue works on a group go together into the next group.
package final class GroupDrain<Request: Sendable>: Sendable {
    private struct State {
        var pending: [Request] = []
        var isDraining = false
    }

    /// The largest number of requests in one group.
    private static var groupSize: Int { 1_024 }

    private let queue: DispatchQueue
    private let state = Locked(State())

    package init(label: String) { queue = DispatchQueue(label: label) }

    /// Appends a request. The queue calls `work` with each group, and one group at a time.
    package func submit(_ request: Request, work: @escaping @Sendable ([Request]) -> Void) {
        let mustStart = state.withLock { state in
            state.pending.append(request)
            defer { state.isDraining = true }
            return !state.isDraining
        }
        if mustStart { queue.async { self.drain(work) } }
    }

    private func drain(_ work: ([Request]) -> Void) {
        // The last group predicts the number of callers that submit again after their commit.
        var (lastCount, lastTime) = (1, Duration.zero)
        while true {
            waitForCallers(lastCount, atMost: min(lastTime / 4, .microseconds(500)))
            let group = state.withLock { state in
                let group = Array(state.pending.prefix(Self.groupSize))
                state.pending.removeFirst(group.count)
                state.isDraining = !group.isEmpty
                return group
            }
            if group.isEmpty { return }
            let start = ContinuousClock.now
            work(group)
            (lastCount, lastTime) = (group.count, ContinuousClock.now - start)
        }
    }

    /// Waits until as many requests are pending as the last group had, so that one commit has all of them.
    private func waitForCallers(_ count: Int, atMost time: Duration) {
        guard count > 1, time > .zero else { return }
        let end = ContinuousClock.now + time
        while ContinuousClock.now < end, state.withLock({ $0.pending.count }) < count { usleep(20) }
    }
}
