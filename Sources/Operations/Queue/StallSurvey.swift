import Dispatch
import SchedulerCore

/// A walk from the operations of a queue along the things that they wait for, across queues. `StallGraph` evaluates the
/// result.
///
/// The walk takes one lock at a time, so the result is not a state of one instant. That is sufficient, because a stalled
/// part does not change.
struct StallSurvey {
    private(set) var operations: [Operation?] = []
    private var labels: [String] = []
    private var nodes: [StallGraph.Node] = []
    private var ownReasons: [[WaitingReason]] = []
    /// The parts of executing groups and retries, by the position of the group.
    private var parts: [Int: [Int]] = [:]
    private var positions: [ObjectIdentifier: Int] = [:]
    private var placePositions: [Place.ID: Int] = [:]
    /// The operations that have the slots, turns or units of a place, by its position.
    private var holders: [Int: [WaitingReason.Holder]] = [:]
    private var unvisited: [Int] = []

    /// The positions of the operations from which the survey began.
    let members: Range<Int>
    private(set) var graph = StallGraph([])

    init(of operations: [Operation]) {
        members = 0..<operations.count
        for operation in operations { _ = position(of: operation) }
        while let index = unvisited.popLast() { visit(index) }
        graph = StallGraph(nodes)
    }

    var isStalled: Bool { !members.isEmpty && !members.contains { graph.canGoOn[$0] } }

    /// Returns the reasons for which an operation waits, without cycles.
    func reasons(of index: Int) -> [WaitingReason] {
        guard !graph.canGoOn[index], let parts = parts[index] else { return ownReasons[index] }
        return ownReasons[index] + parts.filter { !graph.canGoOn[$0] }.map { .child(labels[$0]) }
    }

    /// Returns the reasons of the operations outside the members that the stalled members wait for, and that cannot continue. The
    /// nearest come first.
    func causes() -> [Explanation] {
        var (found, seen): ([Int], Set<Int>) = ([], [])
        var line = members.filter { !graph.canGoOn[$0] }
        var next = 0
        while next < line.count, found.count < StallReport.describedCauses {
            let node = line[next]
            next += 1
            if !members.contains(node), operations[node] != nil { found.append(node) }
            line += graph.nodes[node].waitsFor.filter {
                !members.contains($0) && !graph.canGoOn[$0] && seen.insert($0).inserted
            }
        }
        return found.map { explanation(of: $0, reasons(of: $0)) }
    }

    /// Returns the reasons for each operation from which the survey began. O(operations and their dependencies).
    func explanations() -> [Explanation] {
        let cycles = graph.cycles()
        // One path for all operations that lead into a cycle, because a cycle may contain all operations.
        let paths = cycles.paths.map { path in path.map { labels[$0] } }
        return members.map { index in
            var reasons = reasons(of: index)
            if let cycle = cycles.reached[index] {
                reasons.append(.cycle(own(cycles.paths[cycle], index).map { $0.map { labels[$0] } } ?? paths[cycle]))
            }
            return explanation(of: index, reasons)
        }
    }

    private func explanation(of index: Int, _ reasons: [WaitingReason]) -> Explanation {
        let operation = operations[index]
        return Explanation(
            operation: labels[index], queue: operation?.queueOfMember.map { $0.outermost.queue.readName() ?? "" },
            reasons: reasons, executionTime: operation?.executionTime, dependentCount: operation?.dependentCount ?? 0)
    }

    /// Returns the operation that the stalled members wait for in the end: the nearest one that waits for no stalled operation. There
    /// is none in a cycle, and if it is one of several members.
    func root() -> Explanation? {
        var line = members.filter { !graph.canGoOn[$0] }
        var seen = Set(line)
        var (roots, next): ([Int], Int) = ([], 0)
        while next < line.count {
            let node = line[next]
            next += 1
            let held = graph.nodes[node].waitsFor.filter { !graph.canGoOn[$0] }
            // A place is never a root: it waits only for operations.
            if held.isEmpty { roots.append(node) }
            line += held.filter { seen.insert($0).inserted }
        }
        let outside = roots.first { !members.contains($0) }
        guard let root = outside ?? (roots.count == 1 && members.count > 1 ? roots[0] : nil) else { return nil }
        return explanation(of: root, reasons(of: root))
    }

    /// Returns a short cycle as the path that begins with this node; nil for a long cycle, or for a node outside the
    /// cycle.
    private func own(_ cycle: [Int], _ index: Int) -> [Int]? {
        guard cycle.count <= 33, let start = cycle.firstIndex(of: index) else { return nil }
        return cycle[start..<(cycle.count - 1)] + cycle[..<start] + [index]
    }

    private mutating func position(of operation: Operation) -> Int {
        if let known = positions[ObjectIdentifier(operation)] { return known }
        let position = addNode(operation, label: operation.label)
        positions[ObjectIdentifier(operation)] = position
        unvisited.append(position)
        return position
    }

    private mutating func addNode(_ operation: Operation?, label: String) -> Int {
        operations.append(operation)
        labels.append(label)
        nodes.append(.init(waitsFor: [], standing: .waits))
        ownReasons.append([])
        return nodes.count - 1
    }

    private mutating func visit(_ index: Int) {
        guard let operation = operations[index] else { return }
        let lifecycle = operation.word.lifecycle
        switch lifecycle.phase {
        case .finishing, .finished: return settle(index, .moves, .finished)
        case .starting where untracked({ operation.isFinished }): return settle(index, .stuck, .finishNotAnnounced)
        case .executing: return visitExecuting(index, operation)
        case .starting: return visitExecuting(index, operation)
        case .ended, .entering: return settle(index, .moves, .executing)
        case .idle where untracked({ operation.isExecuting }): return settle(index, .moves, .executing)
        case .idle: visitIdle(index, operation)
        case .enqueued: visitWaiting(index, operation)
        }
    }

    private mutating func settle(_ index: Int, _ standing: StallGraph.Standing, _ reason: WaitingReason) {
        nodes[index].standing = standing
        ownReasons[index].append(reason)
    }

    /// Visits an operation in no queue. Such an operation may wait for the capacity of a queue.
    private mutating func visitIdle(_ index: Int, _ operation: Operation) {
        guard let queue = operation.queueWithoutCapacity else { return settle(index, .stuck, .inNoQueue) }
        let name = queue.readName() ?? ""
        noteFullPlace(Place(kind: .capacity, queue: queue), at: index) { _ in .capacity(queue: name) }
    }

    /// Visits an executing operation. A group proceeds when its children do, and a retry operation when its attempt does.
    private mutating func visitExecuting(_ index: Int, _ operation: Operation) {
        // The parts of a group that has not started them wait for the group.
        let hasStarted = operation.word.lifecycle.phase == .executing && !operation.holdsPartsBack
        let parts = ((hasStarted ? operation as? AsyncOperation : nil)?.unfinishedParts ?? []).map { position(of: $0) }
        let waits = operation.waitsOfAllCode
        guard !parts.isEmpty || !waits.isEmpty else { return settle(index, .moves, .executing) }
        nodes[index].waitsFor = parts + waits.map { position(of: $0.subject) }
        // Each of several waits is one of another thread or child task.
        if !waits.isEmpty { nodes[index].standing = .waitsForAny }
        ownReasons[index] = [.executing] + waits.map { Self.reason($0.subject) }
        self.parts[index] = parts
    }

    private static func reason(_ subject: InnerWaits.Subject) -> WaitingReason {
        switch subject {
        case .operation(let operation): .awaits(operation.label)
        case .queue(let queue): .awaitsQueue(queue.readName() ?? "")
        }
    }

    private mutating func position(of subject: InnerWaits.Subject) -> Int {
        switch subject {
        case .operation(let operation): position(of: operation)
        case .queue(let queue): position(of: Place(kind: .all, queue: queue))
        }
    }

    private mutating func visitWaiting(_ index: Int, _ operation: Operation) {
        let holding = operation.withDependencies { $0.holding } ?? []
        if !untracked({ operation.isReady }) {
            for dependency in holding {
                nodes[index].waitsFor.append(position(of: dependency))
                let phase = dependency.word.lifecycle.phase
                let isNowhere =
                    phase == .idle && dependency.queueWithoutCapacity == nil && !untracked { dependency.isExecuting }
                ownReasons[index].append(
                    isNowhere ? .dependencyInNoQueue(dependency.label) : .dependency(dependency.label))
            }
            if holding.isEmpty { settle(index, .stuck, .customIsReady) }
        } else {
            let lifecycle = operation.word.lifecycle
            let isKnown = lifecycle.contains(.ready) || lifecycle.contains(.evaluating)
            let gates = lifecycle.contains(.gated) ? operation.gateObstacles(isReady: isKnown) : []
            if !gates.isEmpty {
                note(gates, at: index)
            } else if lifecycle.phase == .enqueued, !isKnown {
                settle(index, .stuck, .readyNotAnnounced)
            }
        }
        guard let queue = operation.queueWhileWaiting() else { return }
        let view = queue.view(of: operation)
        if view.isSuspended { noteSuspension(of: queue, named: view.name, at: index) }
        if view.limit == 0 { settle(index, .stuck, .limitZero(queue: view.name)) }
        if view.isBehindBarrier {
            let barrier = position(of: Place(kind: .barrier, queue: queue))
            nodes[index].waitsFor.append(barrier)
            ownReasons[index].append(.barrier(heldBy: holders(at: barrier)))
        }
        guard ownReasons[index].isEmpty else { return }
        // An operation whose key has turns left takes one when there is a slot.
        if let key = view.key, view.isKeyFull || !view.isFull {
            noteFullPlace(view.isKeyFull ? Place(kind: .key(key), queue: queue) : nil, at: index) {
                .key(key, heldBy: $0)
            }
        } else if view.isThrottled {
            settle(index, .moves, .rateLimit(queue: view.name))
        } else if !view.isFull, queue.usesMainThread, let subject = MainThread.subject {
            nodes[index].waitsFor.append(position(of: subject))
            ownReasons[index].append(.mainThread(waitsFor: subject.text))
        } else if !view.isFull, let threads = Place(threadsOf: queue), !holders(at: position(of: threads)).isEmpty {
            let name = threads.kind.name
            noteFullPlace(threads, at: index) { .dispatchQueue(name, heldBy: $0) }
        } else {
            noteFullPlace(view.isFull ? Place(kind: .slot, queue: queue) : nil, at: index) {
                .slot(queue: view.name, limit: view.limit, heldBy: $0)
            }
        }
    }

    /// Records that the operation waits for one of the operations that use the slots, or the turns of its key. nil:
    /// waiting is enough.
    private mutating func noteFullPlace(
        _ place: Place?, at index: Int, _ reason: ([WaitingReason.Holder]) -> WaitingReason
    ) {
        guard let place else { return settle(index, .moves, reason([])) }
        let position = position(of: place)
        nodes[index].waitsFor.append(position)
        ownReasons[index].append(reason(holders(at: position)))
    }

    private mutating func holders(at place: Int) -> [WaitingReason.Holder] {
        if let known = holders[place] { return known }
        // A place waits for the operations that hold it.
        let found = nodes[place].waitsFor.map {
            WaitingReason.Holder(operation: labels[$0], executionTime: operations[$0]?.executionTime)
        }
        holders[place] = found
        return found
    }

    /// A thing that several operations of a queue wait for. Each is a node.
    private struct Place: Identifiable {
        // The identity of the queue, because a subclass may count other queues as equal to this one.
        struct ID: Hashable {
            var kind: Kind
            var queue: ObjectIdentifier?
        }

        enum Kind: Hashable {
            case barrier, slot, capacity, all
            case key(String)
            case units(resource: Int, name: String)
            /// The threads of a dispatch queue. It runs other work, too, which is not known here.
            case threads(ObjectIdentifier, name: String)

            var name: String {
                switch self {
                case .key(let name), .units(_, let name), .threads(_, let name): name
                case .barrier, .slot, .capacity, .all: ""
                }
            }

            var label: String {
                switch self {
                case .barrier: "a barrier"
                case .slot: "a slot"
                case .capacity: "capacity"
                case .all: "all operations"
                case .key(let key): "a turn under key \(key.inQuotes)"
                case .units(_, let name): "units of \(name.inQuotes)"
                case .threads(_, let name): "a thread of dispatch queue \(name.inQuotes)"
                }
            }

            /// Whether the end of one of the operations is sufficient.
            var isFreedByAny: Bool {
                switch self {
                case .barrier, .all: false
                case .slot, .capacity, .key, .units, .threads: true
                }
            }
        }

        let kind: Kind
        /// The queue; nil for a resource, and for the threads of a dispatch queue.
        var queue: OperationQueue?

        init(kind: Kind, queue: OperationQueue? = nil) { (self.kind, self.queue) = (kind, queue) }

        /// The threads of the dispatch queue under a queue; nil if it has none.
        init?(threadsOf queue: OperationQueue) {
            guard let underlying = queue.withState({ $0.underlyingQueue }) else { return nil }
            self.init(kind: .threads(ObjectIdentifier(underlying), name: underlying.label))
        }

        var id: ID { ID(kind: kind, queue: queue.map(ObjectIdentifier.init)) }

        var members: [Operation] {
            switch kind {
            case .barrier: queue?.holdersOfBarrier() ?? []
            case .all: queue?.members() ?? []
            case .capacity: queue?.withState { $0.arrivals }.map(\.operation) ?? []
            case .slot: queue?.runningOperations(underKey: nil) ?? []
            case .key(let key): queue?.runningOperations(underKey: key) ?? []
            case .units(let resource, _): ResourcePool.holders(of: resource)
            case .threads(let underlying, _):
                QueueRegistry.queues.busy.filter {
                    $0.withState { $0.underlyingQueue.map(ObjectIdentifier.init) } == underlying
                }
                .flatMap { $0.runningOperations(underKey: nil) }
            }
        }
    }

    private mutating func position(of place: Place) -> Int {
        if let known = placePositions[place.id] { return known }
        let label = [place.kind.label, place.queue?.label].compactMap(\.self).joined(separator: " of ")
        let members = place.members
        let node = addNode(nil, label: label)
        placePositions[place.id] = node
        nodes[node].waitsFor = members.map { position(of: $0) }
        nodes[node].standing = place.kind.isFreedByAny ? .waitsForAny : .waits
        return node
    }

    /// Records a suspension. A queue of children is suspended only by its group: until the group has started, and while
    /// it is paused.
    private mutating func noteSuspension(of queue: OperationQueue, named name: String, at index: Int) {
        guard let owner = queue.owner else { return settle(index, .stuck, .queueSuspended(queue: name)) }
        if owner.word.lifecycle.isExecuting, !owner.holdsPartsBack {
            // Without a pause, the group has started and is about to resume the queue.
            if owner.isHeld { settle(index, .moves, .paused) }
            return
        }
        nodes[index].waitsFor.append(position(of: owner))
        ownReasons[index].append(.group(owner.label))
    }

    /// Records the obstacles of a gated operation. One permanent obstacle is enough to hold the operation back.
    private mutating func note(_ obstacles: [GateObstacle], at index: Int) {
        for obstacle in obstacles {
            ownReasons[index].append(obstacle.reason)
            switch obstacle.remover {
            case .itself: break
            case .caller: nodes[index].standing = .stuck
            case .operation(let holder): nodes[index].waitsFor.append(position(of: holder))
            case .holders(let resource, let name):
                nodes[index].waitsFor.append(position(of: Place(kind: .units(resource: resource, name: name))))
            case .allOperations(let queue):
                nodes[index].waitsFor.append(position(of: Place(kind: .all, queue: queue)))
            }
        }
        if nodes[index].waitsFor.isEmpty, nodes[index].standing == .waits { nodes[index].standing = .moves }
    }
}

extension OperationQueue {
    fileprivate struct View {
        var name: String
        var isSuspended: Bool
        var limit: Int
        var isThrottled: Bool
        /// The key of the operation, if the key does not have its turn.
        var key: String?
        /// Whether the limit of the key is reached.
        var isKeyFull: Bool
        /// Whether the concurrency limit is reached.
        var isFull: Bool
        var isBehindBarrier: Bool
    }

    /// Returns all members, barriers and parts of tasks included. O(n).
    func members() -> [Operation] { withState { $0.machine.schedule.members.map(Operation.of) } }

    /// Returns the running members, barriers included; or the running members of one key. O(n).
    fileprivate func runningOperations(underKey key: String?) -> [Operation] {
        withState { state in
            guard let key else { return state.runningOperations }
            let policy = state.policies.first(KeyPolicy.self)
            return state.runningOperations.filter { policy?.key(of: $0.scheduleID) == key }
        }
    }

    /// Returns the operations in front of the first barrier, in the order added, or the barrier if it runs. O(n log n).
    fileprivate func holdersOfBarrier() -> [Operation] {
        let (before, running) = withState { state in
            (
                state.machine.schedule.operationsBeforeBarrier.map { ($0.arrival, Operation.of($0)) },
                state.runningOperations
            )
        }
        guard before.isEmpty else { return before.sorted { $0.0 < $1.0 }.map(\.1) }
        return running.filter { $0.word.lifecycle.contains(.barrier) }
    }

    /// Returns the state of the queue for one waiting operation.
    fileprivate func view(of operation: Operation) -> View {
        let name = readName() ?? ""
        return withState { state in
            let keys = state.policies.first(KeyPolicy.self)
            let isBehind = Schedule.holds(operation) && state.machine.schedule.isBehindBarrier(operation)
            return View(
                name: name, isSuspended: state.machine.schedule.isSuspended,
                limit: state.machine.schedule.width,
                isThrottled: state.machine.schedule.isThrottled, key: keys?.keyItWaitsFor(operation),
                isKeyFull: keys?.turnstile.isHeldByLimit(operation.scheduleID) ?? false,
                isFull: state.machine.schedule.running >= state.machine.schedule.width, isBehindBarrier: isBehind)
        }
    }
}

extension Operation {
    /// Returns the obstacles to the start of the operation besides dependencies: those of the first gate that has any.
    ///
    /// - Parameter isReady: Whether the queue has not asked the gates yet. Then only the program itself can hold it back.
    fileprivate func gateObstacles(isReady: Bool) -> [GateObstacle] {
        if let holdReason { return [.init(reason: holdReason)] }
        return isReady ? [] : gates.lazy.map { $0.obstacles(of: self) }.first { !$0.isEmpty } ?? []
    }

    /// Returns the queue that the operation waits in. The operation is pinned for a moment, so that it cannot leave, and
    /// the queue stays alive.
    fileprivate func queueWhileWaiting() -> OperationQueue? {
        for _ in 0..<1000 {
            let question = word.decide { $0.reconsidered() }
            switch question {
            case .needless: return nil
            case .delegated: Processor.yield()
            case .ask:
                let queue = queue?.takeUnretainedValue()
                unpin()
                return queue
            }
        }
        return nil
    }
}
