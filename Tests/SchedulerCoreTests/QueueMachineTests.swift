import SchedulerCore
import TestSupport
import Testing

@Suite(.tags(.release)) struct QueueMachineTests {
    /// A part of all events, small enough to explore every state that they lead to.
    struct Scope: CustomTestStringConvertible {
        let name: String
        var testDescription: String { name }
        var size = 3
        var kinds: [Schedule.Kind] = [.operation]
        var lanes: [PriorityLane] = [.normal]
        var services: [Schedule.Service] = [.ofQueue]
        var looks: [Schedule.Services] = [.all]
        var limits = [1, 2]
        var orders: [Schedule.Order] = []
        var agings: [Int?] = []
        var holds = false
        var offers = false
        var putsBack = false
    }

    static let scopes = [
        Scope(name: "priorities and readiness", lanes: [.normal, .high], limits: [0, 1, 2], holds: true),
        Scope(name: "four operations that become ready in any order", size: 4, limits: [1], putsBack: true),
        Scope(name: "barriers and jobs", kinds: [.operation, .job, .barrier], limits: [1, 3]),
        Scope(
            name: "barriers and suspension", kinds: [.operation, .barrier], limits: [0, 2], holds: true, putsBack: true),
        Scope(
            name: "service levels", lanes: [.normal, .high], services: [.ofQueue, .first],
            looks: [.ofQueue, Schedule.Services(.first)]),
        Scope(
            name: "service levels and barriers", kinds: [.operation, .barrier], services: [.ofQueue, .second],
            looks: [.ofQueue, Schedule.Services(.second), .all]),
        Scope(
            name: "last in, first out", lanes: [.low, .normal], limits: [1],
            orders: [.firstInFirstOut, .lastInFirstOut]),
        Scope(name: "turns of keys", limits: [1, 2], offers: true, putsBack: true),
        Scope(name: "aging", lanes: [.low, .normal], limits: [3], agings: [nil, 1, 2]),
    ]

    /// The number of states to explore, the nearest first. Only an optimized build has time for all of them.
    #if DEBUG
    private static let mostStates = Stress.rounds(100, least: 10)
    #else
    private static let mostStates = Int.max
    #endif

    /// Each state is reached anew for each step from it.
    @Test(.tags(.slow), arguments: scopes)
    func `the machine gives the answers of the naive queue in every state`(scope: Scope) throws {
        let start = QueuePair(limit: scope.limits[0])
        var known: Set<[Int]> = [start.shape]
        var paths: [[QueueStep]] = [[]]
        var next = 0
        while next < min(paths.count, Self.mostStates) {
            let path = paths[next]
            next += 1
            for step in scope.steps(after: replay(path, scope).naive) {
                var pair = replay(path, scope)
                pair.take(step)
                pair.machine.schedule.checkInvariants()
                try #require(pair.machineAnswers == pair.naiveAnswers, "after \(path + [step])")
                if known.insert(pair.shape).inserted { paths.append(path + [step]) }
            }
        }
        #expect(paths.count >= min(100, Self.mostStates), "\(paths.count) states")
    }

    private func replay(_ path: [QueueStep], _ scope: Scope) -> QueuePair {
        var pair = QueuePair(limit: scope.limits[0])
        for step in path { pair.take(step) }
        return pair
    }

    @Test(.tags(.slow), arguments: 1...UInt64(Stress.rounds(120, least: 4)))
    func `the machine gives the answers of the naive queue in a random program of all events`(seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        var pair = QueuePair(limit: generator.below(6))
        var last: UInt = 0
        for number in 1...min(300, Stress.rounds(300, least: 100)) {
            var step = Self.randomStep(pair.naive, &last, &generator)
            // Members of several services have another order than `lastInFirstOut`; see `Schedule+Services.swift`.
            if seed % 2 == 0 { step = step.withoutService } else if case .setOrder = step { continue }
            pair.take(step)
            pair.machine.schedule.checkInvariants()
            try #require(pair.machineAnswers == pair.naiveAnswers, "seed \(seed), step \(number), after \(step)")
        }
    }

    private static func randomStep(
        _ naive: NaiveQueue, _ last: inout UInt, _ generator: inout SeededRandom
    ) -> QueueStep {
        let lane = generator.pick(PriorityLane.allCases)
        let service = generator.chance(60) ? .ofQueue : generator.pick(Schedule.Service.allCases)
        let number = generator.below(100)
        if number < 25 || naive.members.isEmpty {
            last += 1
            let kind: Schedule.Kind = generator.chance(80) ? .operation : generator.chance(50) ? .job : .barrier
            return .arrive(last, kind, lane, service, isReady: generator.chance(60))
        }
        let id = generator.pick(naive.members).id
        let running = naive.members.filter(\.isRunning).map(\.id)
        switch number {
        case ..<40: return .change(id, lane, service, isReady: generator.chance(60))
        case ..<65: return .look(generator.chance(40) ? 0b11111 : UInt8(generator.below(32)))
        case ..<80: return .leave(running.isEmpty ? id : generator.pick(running))
        case ..<84: return .leave(id)
        case ..<86: return running.isEmpty ? .look(0b11111) : .refuse(generator.pick(running))
        case ..<91: return running.isEmpty ? .look(0b11111) : .putBack(generator.pick(running), lane)
        case ..<93: return .offer(id)
        case ..<95: return .setLimit(generator.below(6))
        case ..<96: return .setSuspended(generator.chance(40))
        case ..<97: return .setThrottled(generator.chance(40))
        case ..<98: return .setOrder(generator.chance(50) ? .lastInFirstOut : .firstInFirstOut)
        default: return .setAging(generator.chance(40) ? nil : generator.below(4) + 1)
        }
    }
}

extension QueueMachineTests.Scope {
    /// The steps to explore from a state.
    func steps(after state: NaiveQueue) -> [QueueStep] {
        var steps: [QueueStep] = looks.map { .look($0.rawValue) }
        let present = Set(state.members.map(\.id))
        if let id = (1...UInt(size)).first(where: { !present.contains($0) }) {
            for kind in kinds {
                for lane in kind == .barrier ? [.normal] : lanes {
                    for service in kind == .barrier ? [.ofQueue] : services {
                        steps.append(.arrive(id, kind, lane, service, isReady: true))
                        if kind != .barrier { steps.append(.arrive(id, kind, lane, service, isReady: false)) }
                    }
                }
            }
        }
        for member in state.members {
            // A barrier leaves after it has run. Each one that left before would leave an empty segment.
            if !member.isBarrier || member.isRunning { steps.append(.leave(member.id)) }
            if member.isRunning { steps.append(.refuse(member.id)) }
            if member.isRunning, putsBack { steps.append(.putBack(member.id, lanes[0])) }
            if offers { steps.append(.offer(member.id)) }
            for lane in lanes {
                for service in services {
                    for isReady in [false, true] { steps.append(.change(member.id, lane, service, isReady: isReady)) }
                }
            }
        }
        steps += limits.map { .setLimit($0) }
        steps += orders.map { .setOrder($0) } + agings.map { .setAging($0) }
        if holds { steps += [.setSuspended(!state.isSuspended), .setThrottled(!state.isThrottled)] }
        return steps
    }
}
