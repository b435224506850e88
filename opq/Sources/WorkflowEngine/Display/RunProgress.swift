/// The state of a run, which follows its events. The value reads no clock and draws nothing.
public struct RunProgress: Sendable {
    public typealias Instant = ContinuousClock.Instant

    /// The state of an operation.
    enum State: Equatable, Sendable {
        case waiting
        case running(since: Instant)
        case ended
    }

    let plan: WorkflowPlan
    /// The concurrency limits of the queues.
    let limits: [String: Int]
    let indices: [String: Int]
    private(set) var states: [State]
    /// The running operations. The operation that started first comes first.
    private(set) var running: [Int] = []
    private(set) var endedCount = 0
    private(set) var failedCount = 0
    /// The members of the families that were found during the run, by the operations that stand for these.
    private(set) var members: [Int: (ended: Int, count: Int)] = [:]
    private var familyOfMember: [String: Int] = [:]
    /// The operations before this one have started.
    private var firstWaiting = 0
    var timeLeft: TimeLeft

    /// Creates the state of a run that has not begun.
    ///
    /// - Parameters:
    ///   - jobs: The concurrency limit of queues without one in the file. `nil` stands for the number of processors.
    ///   - durations: The durations of the commands in earlier runs, in the order of the plan.
    public init(of plan: WorkflowPlan, jobs: Int?, durations: [Duration?]) {
        self.plan = plan
        let limits = Dictionary(plan.queues.map { ($0.name, $0.concurrency(jobs: jobs)) }) { $1 }
        self.limits = limits
        indices = Dictionary(plan.operations.enumerated().map { ($1.name, $0) }) { $1 }
        states = Array(repeating: .waiting, count: plan.operations.count)
        // Without a record, no duration is known.
        let none = [Duration?](repeating: nil, count: plan.operations.count)
        timeLeft = TimeLeft(
            of: plan, limits: limits, durations: durations.count == none.count ? durations : none)
    }

    /// Changes the state by an event at an instant.
    public mutating func note(_ event: RunEvent, at now: Instant) {
        switch event {
        case .started(let operation):
            guard let index = indices[operation.name], states[index] == .waiting else { return }
            states[index] = .running(since: now)
            running.append(index)
        case .ended(let conclusion, _):
            if case .failed = conclusion.outcome, !conclusion.isTolerated { failedCount += 1 }
            guard let index = indices[conclusion.name] else {
                // A member that is not in the plan.
                if let family = familyOfMember.removeValue(forKey: conclusion.name) { members[family]?.ended += 1 }
                return
            }
            guard states[index] != .ended else { return }
            if case .running = states[index] { running.removeAll { $0 == index } }
            states[index] = .ended
            endedCount += 1
            timeLeft.note(conclusion.duration, of: index)
        case .expanded(let family, let found):
            guard let index = indices[family.name], states[index] == .waiting else { return }
            members[index] = (0, found.count)
            for member in found { familyOfMember[member.name] = index }
            states[index] = .running(since: now)
            running.append(index)
        case .familyEnded(let family):
            guard let index = indices[family.name], case .running(let start) = states[index] else { return }
            running.removeAll { $0 == index }
            states[index] = .ended
            endedCount += 1
            timeLeft.note(now - start, of: index)
        case .short, .explained, .retrying, .output: break
        }
    }

    /// Returns the usual duration of an operation. `nil` if no earlier one is known.
    func usualDuration(of index: Int) -> Duration? { timeLeft.known(index) }

    /// Returns the estimated time until the end of the run. `nil` if too few durations are known.
    mutating func left(at now: Instant) -> Duration? { timeLeft.estimate(states, at: now) }

    /// Returns the first operations or families of which no member has started, each with the reason.
    mutating func waiting(atMost count: Int) -> [(name: String, reason: String)] {
        while firstWaiting < states.count, states[firstWaiting] != .waiting { firstWaiting += 1 }
        var found: [(name: String, reason: String)] = []
        var seen: Set<String> = Set(running.map { plan.operations[$0].family })
        // A long list of operations is not searched at each drawing.
        for index in states.indices[firstWaiting...].prefix(500) where found.count < count && states[index] == .waiting
        {
            let operation = plan.operations[index]
            if seen.insert(operation.family).inserted { found.append((operation.family, reason(for: index))) }
        }
        return found
    }

    /// Returns the reason why a waiting operation waits.
    func reason(for index: Int) -> String {
        let operation = plan.operations[index]
        let ahead = operation.barrierAhead.map { [$0..<$0 + 1] } ?? []
        for range in operation.awaited + ahead {
            let left = range.count { states[$0] != .ended }
            guard left > 0, let first = range.first(where: { states[$0] != .ended }) else { continue }
            if range.count == 1 { return "waits for \(plan.operations[first].name.visible)" }
            return "waits for \(plan.operations[first].family.visible) (\(left) left)"
        }
        if operation.isBarrier { return "waits for the operations before it" }
        let used = running.count { plan.operations[$0].queue == operation.queue }
        if let limit = limits[operation.queue], used >= limit {
            return "waits for a place in the queue \(operation.queue.visible)"
        }
        if let resource = operation.settings.resources.keys.sorted().first ?? operation.settings.exclusive.first {
            return "waits for \(resource.visible)"
        }
        return "is about to start"
    }
}
