import SchedulerCore

/// Walks from the operations of a queue along what holds them back, across queues, and asks `StallGraph` what it means.
///
/// Takes one lock at a time, so the picture is not of one instant. That is enough: what stands still stays as it is.
struct StallSurvey {
    private(set) var operations: [Operation?] = []
    private var labels: [String] = []
    private var nodes: [StallGraph.Node] = []
    private var ownReasons: [[WaitingReason]] = []
    private var positions: [ObjectIdentifier: Int] = [:]
    private var barrierPositions: [ObjectIdentifier: Int] = [:]
    private var unvisited: [Int] = []

    /// The operations that the survey began with, by position.
    let members: Range<Int>
    private(set) var graph = StallGraph([])

    init(of operations: [Operation]) {
        members = 0..<operations.count
        for operation in operations { _ = position(of: operation) }
        while let index = unvisited.popLast() { visit(index) }
        graph = StallGraph(nodes)
    }

    var isStalled: Bool { !members.isEmpty && !members.contains { graph.canGoOn[$0] } }

    /// What holds it back, without cycles.
    func reasons(of index: Int) -> [WaitingReason] { ownReasons[index] }

    func explanation(of index: Int) -> Explanation {
        var reasons = ownReasons[index]
        if !graph.canGoOn[index], let cycle = graph.cycle(from: index) {
            reasons.append(.cycle(cycle.map { labels[$0] }))
        }
        return Explanation(operation: labels[index], reasons: reasons)
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
        case .executing where operation is GroupOperation: return visitGroup(index, operation)
        case .starting, .executing, .ended, .entering: return settle(index, .moves, .executing)
        case .idle where untracked({ operation.isExecuting }): return settle(index, .moves, .executing)
        case .idle: return settle(index, .stuck, .inNoQueue)
        case .enqueued: visitWaiting(index, operation)
        }
    }

    private mutating func settle(_ index: Int, _ standing: StallGraph.Standing, _ reason: WaitingReason) {
        nodes[index].standing = standing
        ownReasons[index].append(reason)
    }

    /// A group goes on when its children have.
    private mutating func visitGroup(_ index: Int, _ operation: Operation) {
        let children = (operation as? GroupOperation)?.unfinishedChildren ?? []
        guard !children.isEmpty else { return settle(index, .moves, .executing) }
        nodes[index].waitsFor = children.map { position(of: $0) }
        ownReasons[index].append(.executing)
    }

    private mutating func visitWaiting(_ index: Int, _ operation: Operation) {
        let holding = operation.attachments?.withLock { $0.readiness.holding } ?? []
        if !untracked({ operation.isReady }) {
            for dependency in holding {
                nodes[index].waitsFor.append(position(of: dependency))
                let phase = dependency.word.lifecycle.phase
                let isNowhere = phase == .idle && !untracked { dependency.isExecuting }
                ownReasons[index].append(
                    isNowhere ? .dependencyInNoQueue(dependency.label) : .dependency(dependency.label))
            }
            if holding.isEmpty { settle(index, .stuck, .customIsReady) }
        } else {
            let lifecycle = operation.word.lifecycle
            let isKnown = lifecycle.contains(.ready) || lifecycle.contains(.evaluating)
            let gates = lifecycle.contains(.gated) && !isKnown ? operation.gateReasons() : []
            if !gates.isEmpty {
                nodes[index].standing = .moves
                ownReasons[index] += gates
            } else if lifecycle.phase == .enqueued, !isKnown {
                settle(index, .stuck, .readyNotAnnounced)
            }
        }
        guard let queue = operation.queueWhileWaiting() else { return }
        let view = queue.view(of: operation)
        if view.isSuspended { settle(index, .stuck, .queueSuspended(queue: view.name)) }
        if view.hasWidthZero { settle(index, .stuck, .widthZero(queue: view.name)) }
        if view.isBehindBarrier {
            nodes[index].waitsFor.append(barrierPosition(in: queue, before: view.membersBeforeBarrier))
            ownReasons[index].append(.barrier)
        }
        if ownReasons[index].isEmpty, let key = view.key { settle(index, .moves, .key(key)) }
        if ownReasons[index].isEmpty, view.isThrottled { settle(index, .moves, .rateLimit(queue: view.name)) }
        if ownReasons[index].isEmpty { settle(index, .moves, .slot) }
    }

    /// The barrier that stands first in a queue, as a node of its own that waits for all that is in front of it.
    private mutating func barrierPosition(in queue: OperationQueue, before members: [Operation]) -> Int {
        if let known = barrierPositions[ObjectIdentifier(queue)] { return known }
        let barrier = addNode(nil, label: "a barrier of \(queue.label)")
        barrierPositions[ObjectIdentifier(queue)] = barrier
        nodes[barrier].waitsFor = members.map { position(of: $0) }
        return barrier
    }
}

extension OperationQueue {
    fileprivate struct View {
        var name: String
        var isSuspended: Bool
        var hasWidthZero: Bool
        var isThrottled: Bool
        /// Its key, when that has not its turn.
        var key: String?
        var isBehindBarrier: Bool
        var membersBeforeBarrier: [Operation]
    }

    /// How things stand for one waiting operation of this queue.
    fileprivate func view(of operation: Operation) -> View {
        let name = readName() ?? ""
        return withState { state in
            let isMember = state.schedule.holds(operation.ticket)
            let isBehind = isMember && state.schedule.isBehindBarrier(operation.ticket)
            let ids = isBehind ? state.schedule.idsBeforeBarrier : []
            return View(
                name: name, isSuspended: state.schedule.isSuspended, hasWidthZero: state.schedule.width == 0,
                isThrottled: state.schedule.isThrottled, key: state.keyItWaitsFor(operation),
                isBehindBarrier: isBehind, membersBeforeBarrier: ids.map(Self.operation))
        }
    }
}

extension Operation {
    /// What it waits for besides dependencies.
    fileprivate func gateReasons() -> [WaitingReason] {
        guard let gates else { return [] }
        if gates.hold.isOn { return [.held] }
        if gates.isTesting { return [.conditions(gates.conditions.map(\.name))] }
        guard ResourcePool.isWaiting(self) else { return [] }
        return gates.requirements.compactMap { requirement in
            let usage = ResourcePool.usage(of: requirement)
            if requirement.isExclusive { return usage.inUse > 0 ? .exclusion(requirement.name) : nil }
            return .resource(
                name: requirement.name, units: requirement.need.units, inUse: usage.inUse, capacity: usage.capacity)
        }
    }

    /// The queue it waits in, safely: pinned for a moment, so that it can not leave and the queue can not go.
    func queueWhileWaiting() -> OperationQueue? {
        for _ in 0..<1000 {
            let question = word.decide {
                $0.reconsidered()
            } next: {
                $0.next
            }
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
