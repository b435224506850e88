import SchedulerCore

/// The state of a queue at one moment.
public struct QueueSnapshot: Sendable, CustomStringConvertible {
    /// The queue's name.
    public let queue: String
    /// The number of operations that execute: at most the concurrency limit, unless the limit was lowered.
    public let executing: Int
    /// The number of operations that the queue has started since its creation. It can count an operation that has not started yet.
    public let started: Int
    /// The number of operations that wait.
    public let waiting: Int
    /// The number of waiting operations for each kind of reason. An operation that waits for several kinds counts once
    /// for each.
    public let waitingReasons: [Reason: Int]
    /// The time that the oldest operation has been in the queue; nil when the queue is empty.
    ///
    /// For operations that were added before the first snapshot that measures, the time is counted from that snapshot. It is nil
    /// if no snapshot has measured.
    public let oldestAge: Duration?
    /// The number of operations per second that finished in the last ten seconds, or since the first snapshot that measures;
    /// 0 if none has.
    public let throughput: Double

    /// A kind of reason for which operations wait: a `WaitingReason` without its details.
    public enum Reason: String, Sendable, CaseIterable {
        case dependencies, conditions, resources, key, rateLimit, barrier, suspended, limitZero, paused, delay,
            group, ownReadiness, slot
    }

    public var description: String {
        let reasons = waitingReasons.sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }
            .map { "\($0.value) for \($0.key.rawValue)" }.joined(separator: ", ")
        return "\(queue.inQuotes): \(executing) execute, \(waiting) wait\(reasons.isEmpty ? "" : " (\(reasons))")"
    }
}

extension OperationQueue {
    /// Returns the state of the queue.
    ///
    /// The first snapshot that measures begins the measurement of ages and throughput, which makes each later operation slower. A
    /// queue without such snapshots has no cost. O(operations and their dependencies).
    ///
    /// - Parameter measures: Whether the measurement begins, unless an earlier snapshot has begun it.
    public final func snapshot(measures: Bool = true) -> QueueSnapshot {
        let statistics = statisticsReference.load() ?? (measures ? beginStatistics() : nil)
        // Operations start and finish during the survey, so the numbers come from one moment before it.
        let (members, running, started) = withState { ($0.arrivals, $0.runningOperations, $0.starts) }
        let areRunning = Set(running.map(ObjectIdentifier.init))
        let survey = StallSurvey(of: members.sorted { $0.arrival < $1.arrival }.map(\.operation))
        var reasons: [QueueSnapshot.Reason: Int] = [:]
        var executing = 0
        for (index, operation) in zip(survey.members, survey.operations) {
            let own = survey.reasons(of: index)
            if let operation, areRunning.contains(ObjectIdentifier(operation)), own != [.finishNotAnnounced] {
                executing += 1
            } else {
                for kind in Set(own.map(\.kind)) { reasons[kind, default: 0] += 1 }
            }
        }
        let answer = statistics?.answer(for: survey.operations)
        return QueueSnapshot(
            queue: readName() ?? "", executing: executing, started: started,
            waiting: survey.members.count - executing, waitingReasons: reasons,
            oldestAge: survey.members.isEmpty ? nil : answer?.age, throughput: answer?.throughput ?? 0)
    }

    private func beginStatistics() -> QueueStatistics {
        let new = QueueStatistics()
        let kept = statisticsReference.storeIfNil(new)
        if kept === new { addWatcher(new) }
        return kept
    }
}

/// The times at which operations were added, and the throughput.
final class QueueStatistics: QueueWatcher {
    fileprivate struct State {
        let begin = ContinuousClock.now
        var added: [ObjectIdentifier: ContinuousClock.Instant] = [:]
        var finished = Throughput(span: 10)
    }

    private let state = Locked(State())

    func operation(_ operation: Operation, did step: QueueStep) {
        let now = ContinuousClock.now
        state.withLock { state in
            switch step {
            case .wasAdded: state.added[ObjectIdentifier(operation)] = now
            case .starts: break
            case .hasFinished:
                state.added[ObjectIdentifier(operation)] = nil
                state.finished.note(at: (now - state.begin).wholeNanoseconds)
            }
        }
    }

    /// Returns the age of the oldest of these operations, and the throughput.
    func answer(for operations: [Operation?]) -> (age: Duration, throughput: Double) {
        let now = ContinuousClock.now
        return state.withLock { state in
            // Operations may have ended since they were listed. Then they have no entry any more.
            let oldest = operations.first { operation in
                guard let operation else { return false }
                return state.added[ObjectIdentifier(operation)] != nil
                    || !operation.word.lifecycle.hasClaimedEnd
            }
            let added = oldest?.map { state.added[ObjectIdentifier($0)] ?? state.begin } ?? now
            return (now - added, state.finished.perSecond(at: (now - state.begin).wholeNanoseconds))
        }
    }
}

extension WaitingReason {
    fileprivate var kind: QueueSnapshot.Reason {
        switch self {
        case .cycle, .dependency, .dependencyInNoQueue, .inNoQueue, .capacity: .dependencies
        case .conditions: .conditions
        case .paused: .paused
        case .slotReleased: .delay
        case .group: .group
        case .resource, .resourceLine, .exclusion: .resources
        case .key: .key
        case .rateLimit: .rateLimit
        case .barrier: .barrier
        case .queueSuspended: .suspended
        case .limitZero: .limitZero
        case .customIsReady, .readyNotAnnounced, .finishNotAnnounced: .ownReadiness
        case .slot, .dispatchQueue, .executing, .finished, .awaits, .awaitsQueue, .child, .mainThread: .slot
        }
    }
}
