import Dispatch
import DurableCore
import Foundation
import Synchronization

/// A list of requests that one serial queue handles in groups.
///
/// Requests that arrive while the queue works on a group go together into the next group.
package final class GroupDrain<Request: Sendable>: Sendable {
    private struct State {
        var pending: [Pending] = []
        /// The present group, of which paused requests can still expire.
        var group: [Pending] = []
        var isDraining = false
        /// Whether a check of the waiting requests is due.
        var isWatched = false
        /// The instant at which the queue began the present group.
        var startedAt: ContinuousClock.Instant?
    }

    /// A request, and the instant of its submission.
    package struct Pending: Sendable {
        private enum Phase: UInt8, AtomicRepresentable {
            case waiting, started, expired
        }

        /// A place for the phase, which copies of the value share.
        private final class Place: Sendable {
            let phase = Atomic(Phase.waiting)
        }

        package let request: Request
        let since: ContinuousClock.Instant
        private let place = Place()

        init(_ request: Request, since: ContinuousClock.Instant) { (self.request, self.since) = (request, since) }

        /// Notes that the work on the request begins or continues. From then on, the request cannot expire.
        ///
        /// - Returns: Whether the request has not expired. The caller of an expired request has its reply.
        package func start() -> Bool { change(.waiting, to: .started) != .expired }

        fileprivate func pause() { _ = change(.started, to: .waiting) }

        /// Returns whether the request was waiting, and has expired.
        fileprivate func expire() -> Bool { change(.waiting, to: .expired) == .waiting }

        fileprivate var isWaiting: Bool { place.phase.load(ordering: .acquiring) == .waiting }

        /// Changes the phase if it is the expected one. Returns the phase before.
        private func change(_ expected: Phase, to phase: Phase) -> Phase {
            place.phase.compareExchange(expected: expected, desired: phase, ordering: .acquiringAndReleasing).original
        }

        /// Returns the rest of a time limit that began with the submission.
        package func rest(of limit: Duration) -> Duration { limit - (.now - since) }
    }

    /// The limit of the time that a request waits for its group.
    package struct WaitLimit: Sendable {
        let time: Duration
        /// Receives a request that waited too long, and the time since the start of the group before it.
        let expire: @Sendable (Request, Duration) -> Void

        package init(_ time: Duration, expire: @escaping @Sendable (Request, Duration) -> Void) {
            (self.time, self.expire) = (time, expire)
        }
    }

    /// The largest number of requests in one group.
    private static var groupSize: Int { 1_024 }

    private let queue: DispatchQueue
    private let limit: WaitLimit?
    private let state = Locked(State())

    package init(label: String, limit: WaitLimit? = nil) {
        (queue, self.limit) = (DispatchQueue(label: label), limit)
    }

    /// Appends a request. The queue calls `work` with each group, the oldest request first, and one group at a time.
    package func submit(_ request: Request, work: @escaping @Sendable ([Pending]) -> Void) {
        let (mustStart, mustWatch) = state.withLock { state in
            let mustWatch = limit != nil && state.isDraining && !state.isWatched
            state.pending.append(Pending(request, since: .now))
            defer { (state.isDraining, state.isWatched) = (true, state.isWatched || mustWatch) }
            return (!state.isDraining, mustWatch)
        }
        if mustStart { queue.async { self.drain(work) } }
        if mustWatch, let limit { watch(after: limit.time) }
    }

    /// The time since the start of the present group; nil if the queue is idle.
    package var busyTime: Duration? { state.withLock { $0.startedAt.map { .now - $0 } } }

    /// The number of requests that wait for the next group.
    package var pendingCount: Int { state.withLock { $0.pending.count } }

    private func drain(_ work: ([Pending]) -> Void) {
        // The last group predicts the number of callers that submit again after their commit.
        var (lastCount, lastTime) = (1, Duration.zero)
        while true {
            waitForCallers(lastCount, atMost: min(lastTime / 4, .microseconds(500)))
            let start = ContinuousClock.now
            let group = state.withLock { state in
                let group = Array(state.pending.prefix(Self.groupSize))
                state.pending.removeFirst(group.count)
                for request in group { _ = request.start() }
                state.isDraining = !group.isEmpty
                state.startedAt = group.isEmpty ? nil : start
                state.group = group
                return group
            }
            if group.isEmpty { return }
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

    /// Lets requests of the present group expire until they start again, because others of the group may take any time.
    package func pause(_ requests: ArraySlice<Pending>) {
        guard let limit, !requests.isEmpty else { return }
        for request in requests { request.pause() }
        let mustWatch = state.withLock { state in
            defer { state.isWatched = true }
            return !state.isWatched
        }
        if mustWatch { watch(after: requests.lazy.map { $0.rest(of: limit.time) }.min() ?? limit.time) }
    }

    /// Ends requests that have waited too long, while the queue works on a group.
    private func watch(after time: Duration) {
        let delay = DispatchTimeInterval.microseconds(Int(clamping: max(1_000, time.microseconds)))
        DispatchQueue.global().asyncAfter(deadline: .now() + delay) { [weak self] in self?.expire() }
    }

    private func expire() {
        guard let limit else { return }
        let now = ContinuousClock.now
        let (expired, busy, rest) = state.withLock { state in
            let waiting = (state.group + state.pending).filter(\.isWaiting)
            let expired = waiting.filter { now - $0.since >= limit.time && $0.expire() }
            state.pending.removeAll { !$0.isWaiting }
            let rest = waiting.lazy.filter(\.isWaiting).map { limit.time - (now - $0.since) }.min()
            state.isWatched = rest != nil
            return (expired, state.startedAt.map { now - $0 } ?? .zero, rest)
        }
        if let rest { watch(after: rest) }
        for pending in expired { limit.expire(pending.request, busy) }
    }
}
