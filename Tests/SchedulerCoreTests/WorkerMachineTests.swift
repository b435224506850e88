import SchedulerCore
import TestSupport
import Testing

@Suite(.tags(.release)) struct WorkerMachineTests {
    private static func wait(_ place: WorkerWorld.Place, _ operation: Int, for other: Int) -> WorkerScope.Wait {
        .init(place: place, operation: operation, other: other)
    }

    private static let all: [WorkerPace] = [.goesOn, .attends, .shares, .yields]

    static let scopes = [
        WorkerScope("blocks in a serial queue", [.plain, .plain], paces: all),
        WorkerScope("blocks with two slots", [.plain, .plain], limit: 2, paces: all),
        WorkerScope("three blocks without the monitor", [.plain, .plain, .plain], limit: 2, hasMonitor: false),
        WorkerScope(
            "three blocks with an attending worker that yields", [.plain, .plain, .plain], paces: [.attends, .yields],
            hasMonitor: false),
        WorkerScope("a round trip", [.plain, .plain], paces: all, takesTurns: true),
        WorkerScope("a chain", [.plain, .plain], limit: 2, dependencies: [1: 0], paces: all),
        WorkerScope("operations of other classes", [.long, .long], paces: [.attends]),
        WorkerScope(
            "a body that waits for the next operation", [.plain, .plain], limit: 2, waits: [wait(.body, 0, for: 1)]),
        WorkerScope(
            "a second body that waits for the next operation", [.plain, .plain, .plain], limit: 2,
            waits: [wait(.body, 1, for: 2)]),
        WorkerScope(
            "an override of start() that waits after the end", [.long, .plain], waits: [wait(.afterEnd, 0, for: 1)]),
        WorkerScope("a completion block that waits", [.plain, .plain], waits: [wait(.block, 0, for: 1)], paces: all),
        WorkerScope("a deinit that waits", [.long, .plain], waits: [wait(.release, 0, for: 1)], paces: all),
        WorkerScope(
            "a deinit that waits for a later operation", [.long, .plain, .plain], waits: [wait(.release, 0, for: 2)],
            paces: [.attends]),
        WorkerScope(
            "a deinit that waits for a dependent", [.long, .plain], dependencies: [1: 0],
            waits: [wait(.release, 0, for: 1)]),
        WorkerScope(
            "an observed queue with a deinit that waits", [.long, .plain], waits: [wait(.release, 0, for: 1)],
            paces: all, isObserved: true),
        WorkerScope("a call of cancel() that waits", [.toCancel, .plain], waits: [wait(.cancel, 0, for: 1)]),
        WorkerScope(
            "a call of cancel() behind a deinit that waits", [.long, .toCancel], waits: [wait(.release, 0, for: 1)]),
        WorkerScope("a resumption", [.async], paces: all),
        WorkerScope("a resumption beside a block", [.async, .plain], paces: [.goesOn]),
        WorkerScope("a resumption, and no monitor", [.async, .plain], hasMonitor: false),
        WorkerScope(
            "an async operation that waits for a later one", [.async, .plain], limit: 2,
            waits: [wait(.body, 0, for: 1)],
            paces: [.goesOn]),
        WorkerScope(
            "a resumption that waits for a later operation", [.async, .plain], limit: 2,
            waits: [wait(.part, 0, for: 1)], paces: [.goesOn]),
    ]

    /// The number of states to explore, the nearest first. Only an optimized build has time for all of them.
    #if DEBUG
    private static let mostStates = Stress.rounds(40_000, least: 2_000)
    #else
    private static let mostStates = Int.max
    #endif

    // The states of a scope take up to 100 MB.
    @Test(.serialized, .tags(.slow), arguments: scopes)
    func `no work is lost or done twice in any order of two workers and the monitor`(scope: WorkerScope) throws {
        let exploration = WorkerExploration(of: scope, mostStates: Self.mostStates)
        let fault = exploration.fault ?? ""
        #expect(exploration.fault == nil, "\(fault), after\n\(exploration.path.joined(separator: "\n"))")
        #expect(exploration.states >= min(5_000, Self.mostStates), "\(exploration.states) states")
    }
}

/// The states that a scope leads to, the nearest first, until one has a fault.
struct WorkerExploration {
    private(set) var states = 0
    private(set) var fault: String?
    /// The steps to the fault.
    private(set) var path: [String] = []

    init(of scope: WorkerScope, mostStates: Int) {
        let start = WorkerWorld(scope)
        var known: Set<WorkerWorld> = [start]
        var worlds = [start]
        var origins: [(parent: Int, step: Int)] = [(0, 0)]
        var next = 0
        while next < min(worlds.count, mostStates), fault == nil {
            var world = worlds[next]
            let successors = world.successors
            if successors.isEmpty { world.checkRest() }
            for (number, successor) in successors.enumerated() where known.insert(successor.world).inserted {
                worlds.append(successor.world)
                origins.append((next, number))
            }
            fault = world.fault
            if fault != nil {
                while next > 0 {
                    let (parent, step) = origins[next]
                    path.insert(worlds[parent].successors[step].step, at: 0)
                    next = parent
                }
            }
            next += 1
        }
        states = worlds.count
    }
}
