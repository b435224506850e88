import DashboardCore
import Operations
import Synchronization

extension QueueSource {
    /// The numbers of the queue. Begins the recording again when a burst has passed.
    func overview(of queue: OperationQueue) -> JSON {
        let begin = PageClock.now
        let snapshot = queue.snapshot(measures: false)
        let first = queue.presentOperations.first
        let firstNumber = first.map { Int64(bitPattern: $0.eventID) }
        let (rate, minutes, seen, isOpen) = state.withLock { state in
            state.lately.note(snapshot.started, at: begin)
            state.minutes.note(snapshot.started, at: begin)
            let object = first.map { ObjectIdentifier($0) }
            if object != state.oldest?.operation { state.oldest = object.map { ($0, begin) } }
            return (state.lately.perSecond, state.minutes.perSecond, state.oldest?.seen, state.isOpen)
        }
        let (added, counts, isIncomplete, isRecording, budget) = recorder.read { state in
            (firstNumber.flatMap { state.added[$0] }, state.counts, state.isIncomplete, state.task != nil, state.budget)
        }
        if isOpen, !isRecording, budget.mayBegin(startsPerSecond: rate ?? 0) { recorder.begin(queue) }
        let stall = snapshot.executing == 0 && snapshot.waiting > 0 ? queue.stallReport() : nil
        let reasons = snapshot.waitingReasons.sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }
        let ready = snapshot.waitingReasons[.slot] ?? 0
        let limit = queue.maxConcurrentOperationCount
        return .members([
            "id": .text(id), "kind": .text("queue"),
            "name": .text(snapshot.queue.isEmpty ? "unnamed queue" : ShortText.cut(snapshot.queue)),
            "running": .number(snapshot.executing), "ready": .number(min(ready, snapshot.waiting)),
            "waiting": .number(max(0, snapshot.waiting - ready)), "started": .number(snapshot.started),
            "rate": JSON(rate), "rateOfMinutes": JSON(minutes), "done": .number(counts["done"] ?? 0),
            "failed": .number(counts["failed"] ?? 0), "cancelled": .number(counts["cancelled"] ?? 0),
            "incomplete": .boolean(isIncomplete), "recording": .boolean(isRecording),
            "oldest": JSON(first == nil ? nil : (added ?? seen).map { begin - $0 }),
            "oldestAtLeast": .boolean(added == nil), "limit": limit < 0 ? .text("default") : .number(limit),
            "capacity": JSON(queue.capacity), "limitPerKey": JSON(queue.limitPerKey),
            "suspended": .boolean(queue.isSuspended), "shutDown": .boolean(queue.isShutDown),
            "reasons": .list(reasons.map { .list([.text($0.key.rawValue), .number($0.value)]) }),
            "stall": JSON(stall.map { ShortText.cut("\($0)", to: ShortText.noteLimit) }),
            "steering": .boolean(permitsSteering), "cost": .decimal(PageClock.now - begin),
        ])
    }

    /// The bars of the operations that ended in the last seconds, and of those that execute.
    func timeline(of queue: OperationQueue, _ seconds: Int) -> JSON {
        let now = PageClock.now
        let ended = recorder.read { $0.ended.latestFirst }
        var bars = ended.compactMap { ended -> TimelineBars.Bar? in
            guard let ran = ended.ran, ended.end > now - Double(seconds) else { return nil }
            return .init(id: ended.id, name: ended.name, state: ended.state, start: ended.end - ran, end: ended.end)
        }
        for operation in queue.presentOperations where operation.isExecuting && bars.count < 2 * TimelineBars.barLimit {
            let time = queue.explain(operation).executionTime?.inSeconds ?? 0
            bars.append(
                .init(
                    id: show(operation), name: operation.shortName, state: "running", start: now - time, end: now))
        }
        return TimelineBars(bars).json(now: now, seconds: seconds)
    }

    /// The operations of the queue and their dependencies in it.
    func graph(of queue: OperationQueue) -> Graph {
        let operations = queue.presentOperations
        var indexes: [ObjectIdentifier: Int] = [:]
        for (index, operation) in operations.enumerated() { indexes[ObjectIdentifier(operation)] = index }
        let mustName = operations.count <= FoldedGraph.nodeLimit
        let nodes = operations.map { operation in
            Graph.Node(id: mustName ? show(operation) : nil, name: operation.shortName, state: operation.stateWord)
        }
        return Graph(
            nodes: nodes,
            dependencies: operations.map { $0.dependencies.compactMap { indexes[ObjectIdentifier($0)] } })
    }
}

extension Operation {
    /// The name, or the type without generic arguments, in bounded length.
    var shortName: String { ShortText.cut(name ?? String("\(type(of: self))".prefix { $0 != "<" })) }

    /// The state in one word. An overridden property may answer anything, also twice.
    var stateWord: String { isFinished ? "done" : isExecuting ? "running" : isReady ? "ready" : "waiting" }
}
