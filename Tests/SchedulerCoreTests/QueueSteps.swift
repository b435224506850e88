@testable import SchedulerCore

/// One event of a queue whose members are numbers.
enum QueueStep: Hashable {
    case arrive(UInt, Schedule.Kind, PriorityLane, Schedule.Service, isReady: Bool)
    case change(UInt, PriorityLane, Schedule.Service, isReady: Bool)
    case offer(UInt)
    case look(UInt8)
    case refuse(UInt)
    case putBack(UInt, PriorityLane)
    case leave(UInt)
    case setLimit(Int)
    case setSuspended(Bool)
    case setThrottled(Bool)
    case setOrder(Schedule.Order)
    case setAging(Int?)
}

extension QueueStep {
    /// The same step for a member of the queue's own service.
    var withoutService: QueueStep {
        switch self {
        case .arrive(let id, let kind, let lane, _, let isReady):
            .arrive(id, kind, lane, .ofQueue, isReady: isReady)
        case .change(let id, let lane, _, let isReady): .change(id, lane, .ofQueue, isReady: isReady)
        default: self
        }
    }
}

/// A machine and the naive queue, which receive the same events.
struct QueuePair {
    /// All answers of either.
    struct Answers: Equatable {
        var claim: UInt?
        var isIdle: Bool
        var startable: Schedule.Services
        var signal: QueueMachine.Signal
        var isBlocked: Bool
        var running: Int
        var count: Int
        var operations: [UInt]
        var operationsBeforeBarrier: [UInt]
        var behindBarrier: [UInt]
    }

    private(set) var machine: QueueMachine
    private(set) var naive: NaiveQueue
    private(set) var members: [UInt: TestSchedule.Member] = [:]
    private var claims: (machine: UInt?, naive: UInt?)
    private var actions = QueueMachine.Actions.none

    init(limit: Int) {
        machine = QueueMachine(limit: limit)
        naive = NaiveQueue(limit: limit)
    }

    mutating func take(_ step: QueueStep) {
        claims = (nil, nil)
        switch step {
        case .arrive(let id, let kind, let lane, let service, let isReady):
            let member = TestSchedule.Member(id)
            members[id] = member
            handle(.arrive(.passUnretained(member), kind, lane: lane, service: service, isReady: isReady))
            naive.arrive(id, kind, (lane, service, isReady))
        case .change(let id, let lane, let service, let isReady):
            let kind = members[id].unsafelyUnwrapped.kind
            handle(.arrive(reference(id), kind, lane: lane, service: service, isReady: isReady))
            naive.change(id, (lane, service, isReady))
        case .offer(let id):
            handle(.offer(reference(id)))
            naive.offer(id)
        case .look(let bits):
            let services = Schedule.Services(rawValue: bits)
            handle(.look(services))
            claims = (actions.claim.map(TestSchedule.member)?.id, naive.look(services))
        case .refuse(let id):
            handle(.refuse(reference(id)))
            naive.refuse(id)
        case .putBack(let id, let lane):
            handle(.putBack(reference(id), lane: lane))
            naive.putBack(id, lane: lane)
        case .leave(let id):
            handle(.leave(reference(id)))
            naive.leave(id)
            members[id] = nil
        case .setLimit(let limit):
            handle(.setLimit(limit))
            naive.setLimit(limit)
        case .setSuspended(let isSuspended):
            handle(.setSuspended(isSuspended))
            naive.setSuspended(isSuspended)
        case .setThrottled(let isThrottled):
            handle(.setThrottled(isThrottled))
            naive.setThrottled(isThrottled)
        case .setOrder(let order):
            handle(.setOrder(order))
            naive.setOrder(order)
        case .setAging(let limit):
            handle(.setAging(limit: limit))
            naive.setAging(limit: limit)
        }
    }

    private mutating func handle(_ event: QueueMachine.Event) {
        let (wasEmpty, isNew) = (naive.members.isEmpty, machine.schedule.isEmpty)
        let startable = machine.startable
        actions = machine.handle(event)
        // The thread that adds or looks calls workers itself.
        switch event {
        case .arrive, .look, .refuse: break
        default: precondition(actions.opens || startable.isSuperset(of: machine.startable), "opens after \(event)")
        }
        // The two actions of an empty queue are due exactly when it stops or begins to be empty.
        precondition(wasEmpty == isNew)
        precondition(actions.keepsAlive == (isNew && !machine.schedule.isEmpty), "keeps alive after \(event)")
        precondition(actions.becomesIdle == (!isNew && machine.schedule.isEmpty), "becomes idle after \(event)")
    }

    private func reference(_ id: UInt) -> MemberReference { .passUnretained(members[id].unsafelyUnwrapped) }

    var machineAnswers: Answers {
        var machine = machine
        let schedule = machine.schedule
        return Answers(
            claim: claims.machine, isIdle: schedule.isEmpty, startable: machine.startable, signal: machine.signal,
            isBlocked: machine.isBlocked, running: schedule.running, count: schedule.count,
            operations: TestSchedule.ids(schedule.operations),
            operationsBeforeBarrier: TestSchedule.ids(schedule.operationsBeforeBarrier),
            behindBarrier: members.filter { schedule.isBehindBarrier($0.value) }.map(\.key).sorted())
    }

    var naiveAnswers: Answers {
        Answers(
            claim: claims.naive, isIdle: naive.members.isEmpty, startable: naive.startable, signal: naive.signal,
            isBlocked: naive.isBlocked, running: naive.running, count: naive.members.count,
            operations: naive.operations, operationsBeforeBarrier: naive.operationsBeforeBarrier,
            behindBarrier: members.keys.filter { naive.isBehindBarrier($0) }.sorted())
    }

    /// The whole state of the machine as numbers. Two states with equal numbers answer all further events alike, except
    /// for the names of the members.
    var shape: [Int] {
        var names: [ScheduleMember] = []
        machine.schedule.forEach { names.append($0) }
        names.sort { $0.arrival < $1.arrival }
        let places = Dictionary(uniqueKeysWithValues: names.enumerated().map { (ObjectIdentifier($1), $0) })
        return machine.schedule.shape { places[ObjectIdentifier($0)].unsafelyUnwrapped }
    }
}

extension Schedule {
    fileprivate func shape(_ name: (ScheduleMember) -> Int) -> [Int] {
        var numbers = [width, order == .firstInFirstOut ? 1 : 0]
        numbers += [isSuspended, isThrottled].map { $0 ? 1 : 0 }
        numbers += aging.isOn ? aging.counts : []
        var last: ScheduleMember?
        forEach { if $0.arrival == aging.lastTurn?.arrival { last = $0 } }
        if let turn = aging.lastTurn, let last {
            numbers += [name(last)] + turn.passedOver.indices.map { turn.passedOver[$0] }
        }
        func add(_ members: [ScheduleMember]) {
            numbers.append(-1)
            for member in members {
                numbers += [name(member), Int(member.kind.rawValue), Int(member.lane.rawValue)]
                numbers += [
                    Int(member.service.rawValue), member.isLate ? Int(member.position) + 1 : 0,
                    Int(segment(of: member) - firstSegment),
                ]
            }
        }
        // No answer depends on the order of running or waiting members.
        add(runningMembers.sorted { $0.arrival < $1.arrival })
        for segment in segments {
            add(segment.gate.map { [$0.takeUnretainedValue()] } ?? [])
            var (waiting, ready): ([ScheduleMember], [ScheduleMember]) = ([], [])
            segment.waiting.forEach { waiting.append($0) }
            segment.forEachReady { ready.append($0) }
            add(waiting.sorted { $0.arrival < $1.arrival })
            add(ready)
        }
        return numbers
    }
}
