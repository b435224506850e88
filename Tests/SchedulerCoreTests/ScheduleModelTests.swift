import SchedulerCore
import TestSupport
import Testing

@Suite struct ScheduleModelTests {
    @Test(arguments: UInt64(1)...240)
    func `the schedule gives the answers of the naive model`(seed: UInt64) throws {
        var pair = ScheduleAndModel(seed: seed)
        for step in 1...300 {
            let event = pair.happen()
            pair.schedule.checkInvariants()
            try #require(pair.scheduleView == pair.modelView, "seed \(seed), step \(step), after \(event)")
        }
        try pair.drain()
    }

    @Test(arguments: UInt64(1)...8)
    func `many members start in the order of priority and arrival`(seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        var schedule = TestSchedule(width: 1)
        for round in 0..<3 {
            var crowd: [(member: TestSchedule.Member, id: Schedule.ID, lane: PriorityLane)] = []
            for place in 0..<1300 {
                let id = Schedule.ID(round * 10_000 + place)
                let lane = generator.pick(PriorityLane.allCases)
                crowd.append((schedule.added(id, lane: lane, isReady: generator.chance(50)), id, lane))
            }
            for _ in 0..<2000 {
                let index = generator.below(crowd.count)
                crowd[index].lane = generator.pick(PriorityLane.allCases)
                schedule.updated(crowd[index].member, lane: crowd[index].lane, isReady: generator.chance(50))
            }
            for index in stride(from: crowd.count - 1, to: 0, by: -3) {
                schedule.finished(crowd.remove(at: index).member)
            }
            for index in crowd.indices.shuffled(using: &generator) {
                schedule.updated(crowd[index].member, lane: crowd[index].lane, isReady: true)
            }
            schedule.checkInvariants()
            var started: [Schedule.ID] = []
            while let next = schedule.next() {
                started.append(next.id)
                schedule.finished(next.member)
            }
            let isInOrder = started == crowd.sorted { ($1.lane, $0.id) < ($0.lane, $1.id) }.map(\.id)
            try #require(isInOrder)
            try #require(schedule.isEmpty)
        }
    }
}

/// A schedule and its model, which receive the same events.
private struct ScheduleAndModel {
    /// All properties of either.
    struct View: Equatable {
        var answer: Schedule.ID?
        var hasRoom: Bool
        var hasStartable: Bool
        var running: Int
        var count: Int
        var operationCount: Int
        var idsInOrder: [Schedule.ID]
        var idsBeforeBarrier: [Schedule.ID]
        var isBehindBarrier: [Schedule.ID: Bool]
    }

    enum Event: CaseIterable {
        case added, addedReady, addedBarrier, updated, madeReady, updatedGone, next, heldBack
        case finishedRunning, finishedAny, finishedBarrier, finishedGone, setWidth, setSuspended, setOrder
    }

    private var generator: SeededRandom
    private(set) var schedule: TestSchedule
    private(set) var model: ScheduleModel
    private var members: [Schedule.ID: TestSchedule.Member] = [:]
    private var gone: [TestSchedule.Member] = []
    private var lastID: Schedule.ID = 0
    private var answers: (schedule: Schedule.ID?, model: Schedule.ID?)

    private static let weights: [(event: Event, weight: Int)] = [
        (.added, 12), (.addedReady, 14), (.addedBarrier, 4), (.updated, 14), (.madeReady, 10), (.updatedGone, 2),
        (.next, 28), (.heldBack, 5), (.finishedRunning, 20), (.finishedAny, 6), (.finishedBarrier, 1),
        (.finishedGone, 2), (.setWidth, 3), (.setSuspended, 2), (.setOrder, 1),
    ]
    private static let lots = weights.flatMap { Array(repeating: $0.event, count: $0.weight) }

    init(seed: UInt64) {
        generator = SeededRandom(seed: seed)
        let width = generator.below(6)
        schedule = TestSchedule(width: width)
        // Every third never ages.
        let aging = seed % 3 == 0 ? nil : generator.below(4) + 1
        schedule.setAging(limit: aging)
        model = ScheduleModel(width: width, aging: aging)
    }

    var scheduleView: View {
        View(
            answer: answers.schedule, hasRoom: schedule.hasRoom, hasStartable: schedule.hasStartable,
            running: schedule.running, count: schedule.count, operationCount: schedule.operationCount,
            idsInOrder: schedule.idsInOrder, idsBeforeBarrier: schedule.idsBeforeBarrier,
            isBehindBarrier: members.mapValues { schedule.holds($0) && schedule.isBehindBarrier($0) })
    }

    var modelView: View {
        View(
            answer: answers.model, hasRoom: model.hasRoom, hasStartable: model.best != nil, running: model.running,
            count: model.members.count, operationCount: model.idsInOrder.count, idsInOrder: model.idsInOrder,
            idsBeforeBarrier: model.idsBeforeBarrier,
            isBehindBarrier: Dictionary(
                uniqueKeysWithValues: model.members.map { ($0.id, model.isBehindBarrier($0.id)) }))
    }

    /// Applies one random event to both.
    mutating func happen() -> Event {
        let event = generator.pick(Self.lots)
        answers = (nil, nil)
        switch event {
        case .added: add(isReady: false)
        case .addedReady: add(isReady: true)
        case .addedBarrier:
            lastID += 1
            members[lastID] = schedule.addedBarrier(lastID)
            model.addedBarrier(lastID)
        case .updated: update(generator.chance(50), keepsLane: generator.chance(40))
        case .madeReady: update(true, keepsLane: generator.chance(80))
        case .updatedGone:
            guard !gone.isEmpty else { break }
            schedule.updated(generator.pick(gone), lane: .veryHigh, isReady: true)
        case .next: _ = next()
        case .heldBack:
            guard let (member, id) = next() else { break }
            schedule.heldBack(member)
            model.heldBack(id)
        case .finishedRunning: finish { $0.isRunning }
        case .finishedAny: finish { !$0.isBarrier || $0.isRunning }
        case .finishedBarrier: finish { $0.isBarrier }
        case .finishedGone:
            guard !gone.isEmpty else { break }
            schedule.finished(generator.pick(gone))
        case .setWidth:
            let width = generator.below(6)
            schedule.setWidth(width)
            model.width = width
        case .setSuspended:
            let isSuspended = generator.chance(40)
            schedule.setSuspended(isSuspended)
            model.isSuspended = isSuspended
        case .setOrder:
            let order: Schedule.Order = generator.chance(50) ? .lastInFirstOut : .firstInFirstOut
            schedule.setOrder(order)
            model.setOrder(order)
        }
        return event
    }

    /// Starts and finishes all members, and compares the order.
    mutating func drain() throws {
        schedule.setSuspended(false)
        model.isSuspended = false
        schedule.setWidth(3)
        model.width = 3
        while !model.members.isEmpty {
            for member in model.members {
                schedule.updated(members[member.id]!, lane: member.lane, isReady: true)
                model.updated(member.id, lane: member.lane, isReady: true)
            }
            while next() != nil { try #require(answers.schedule == answers.model) }
            try #require(answers.schedule == answers.model)
            finish { $0.isRunning }
            schedule.checkInvariants()
        }
        #expect(schedule.isEmpty)
        #expect(!schedule.hasStartable)
    }

    private mutating func add(isReady: Bool) {
        lastID += 1
        let lane = generator.pick(PriorityLane.allCases)
        let kind: Schedule.Kind = generator.chance(15) ? .job : .operation
        members[lastID] = schedule.added(lastID, lane: lane, isReady: isReady, kind: kind)
        model.added(lastID, lane: lane, isReady: isReady, kind: kind)
    }

    private mutating func update(_ isReady: Bool, keepsLane: Bool) {
        guard !model.members.isEmpty else { return }
        let member = generator.pick(model.members)
        let lane = keepsLane ? member.lane : generator.pick(PriorityLane.allCases)
        schedule.updated(members[member.id]!, lane: lane, isReady: isReady)
        model.updated(member.id, lane: lane, isReady: isReady)
    }

    private mutating func next() -> (member: TestSchedule.Member, id: Schedule.ID)? {
        let next = schedule.next()
        answers = (next?.id, model.next())
        guard let next, next.id == answers.model, next.member == members[next.id] else { return nil }
        return next
    }

    private mutating func finish(_ isChosen: (ScheduleModel.Member) -> Bool) {
        let chosen = model.members.filter(isChosen)
        guard !chosen.isEmpty else { return }
        let id = generator.pick(chosen).id
        let member = members.removeValue(forKey: id)!
        schedule.finished(member)
        model.finished(id)
        gone.append(member)
    }
}
