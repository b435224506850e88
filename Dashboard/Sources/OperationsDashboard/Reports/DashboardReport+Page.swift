import DashboardCore

/// The parts of a page. The functions are pure: they get the time, and read nothing else.
extension DashboardReport {
    typealias Instant = ContinuousClock.Instant

    /// The numbers.
    func overview(id: String, name: String, now: Instant) -> JSON {
        var counts: [State: Int] = [:]
        for operation in operations { counts[operation.state, default: 0] += 1 }
        func count(_ state: State) -> JSON { .number(counts[state] ?? 0) }
        let starts = operations.lazy.compactMap(\.began)
        let hasTimes = !starts.isEmpty
        return .members([
            "id": .text(id), "kind": .text("report"), "name": .text(ShortText.cut(name)), "running": count(.running),
            "ready": .number(0), "waiting": count(.waiting), "done": count(.done), "failed": count(.failed),
            "skipped": count(.skipped), "cancelled": count(.cancelled), "left": JSON(timeLeft?.inSeconds),
            "ran": JSON((took ?? starts.min().map { (ended ?? now) - $0 })?.inSeconds),
            "ended": .boolean(ended != nil),
            "notice": JSON(notice.map { ShortText.cut($0, to: ShortText.noteLimit) }),
            "tabs": .list(
                (hasTimes || ended == nil ? ["operations", "timeline", "graph"] : ["operations"]).map(JSON.text)),
            "steering": .boolean(false),
        ])
    }

    /// A page of the operations: those that run, those that failed, those that wait, and all others with the last end first.
    func rows(_ search: OperationSearch, now: Instant, reason: (Int) -> String) -> JSON {
        var groups: [[Int]] = [[], [], [], []]
        for (index, operation) in operations.enumerated() {
            guard search.state.isEmpty || search.state == operation.state.rawValue, search.matches(operation.name)
            else {
                continue
            }
            switch operation.state {
            case .running: groups[0].append(index)
            case .failed: groups[1].append(index)
            case .waiting: groups[2].append(index)
            case .done, .skipped, .cancelled: groups[3].append(index)
            }
        }
        groups[0].sort { (operations[$0].began ?? now, $0) < (operations[$1].began ?? now, $1) }
        let first = now - .seconds(1_000_000_000)
        groups[3].sort { (operations[$1].ended ?? first, $0) < (operations[$0].ended ?? first, $1) }
        let found = groups.flatMap { $0 }
        let shown = found.dropFirst(search.cursor).prefix(OperationSearch.rowLimit)
        let next = search.cursor + shown.count
        return .members([
            "rows": .list(shown.map { row($0, now: now, reason: reason) }), "total": .number(found.count),
            "first": .number(search.cursor), "next": next < found.count ? .number(next) : .null,
        ])
    }

    private func row(_ index: Int, now: Instant, reason: (Int) -> String) -> JSON {
        let operation = operations[index]
        let note = operation.state == .waiting ? reason(index) : operation.note
        return .members([
            "id": .text(String(index)), "name": .text(ShortText.cut(operation.name)),
            "state": .text(operation.state.rawValue), "seconds": JSON(operation.time(now)?.inSeconds),
            "queue": .text(ShortText.cut(operation.queue)), "note": .text(ShortText.cut(note, to: ShortText.noteLimit)),
        ])
    }

    /// Everything about one operation.
    func json(of index: Int, _ detail: Detail, now: Instant) -> JSON {
        let operation = operations[index]
        let count = operation.dependencies.reduce(0) { $0 + $1.count }
        let shown = operation.dependencies.lazy.joined().filter { operations.indices.contains($0) }.prefix(50)
        let note = ShortText.cut(operation.note, to: ShortText.noteLimit)
        return .members([
            "id": .text(String(index)), "name": .text(ShortText.cut(operation.name)),
            "state": .text(operation.state.rawValue), "type": .text(ShortText.cut(operation.queue)),
            "explanation": .text(ShortText.cut(detail.explanation, to: ShortText.noteLimit)),
            "facts": .list([
                .list([
                    .text(operation.state == .running ? "running for" : "ran"), JSON(operation.time(now)?.inSeconds),
                ])
            ]), "error": operation.state == .done ? .null : .text(note),
            "note": operation.state == .done ? .text(note) : .null,
            "texts": .list(
                detail.facts.map { .list([.text($0.title), .text(ShortText.cut($0.text, to: ShortText.noteLimit))]) }),
            "output": JSON(detail.output.map { ShortText.end($0) }), "dependencyCount": .number(count),
            "dependencies": .list(
                shown.map { dependency in
                    .members([
                        "id": .text(String(dependency)), "name": .text(ShortText.cut(operations[dependency].name)),
                        "state": .text(operations[dependency].state.rawValue),
                    ])
                }),
        ])
    }

    /// The bars of the last seconds. Those of a report that has ended are the last ones before its end.
    func timeline(seconds: Int, now: Instant) -> JSON {
        let now = ended ?? now
        let first = now - .seconds(seconds)
        let bars = operations.enumerated().compactMap { index, operation -> TimelineBars.Bar? in
            guard let began = operation.began, (operation.ended ?? now) > first else { return nil }
            return .init(
                id: Int64(index), name: ShortText.cut(operation.name), state: operation.state.rawValue,
                start: PageClock.seconds(began), end: PageClock.seconds(operation.ended ?? now))
        }
        return TimelineBars(bars).json(now: PageClock.seconds(now), seconds: seconds)
    }

    /// The dependencies. A graph of many operations has one node for each family, because the members of one family may all
    /// wait for all members of another one.
    var graph: Graph {
        guard operations.count > FoldedGraph.nodeLimit else {
            return Graph(
                nodes: operations.enumerated().map { index, operation in
                    .init(id: Int64(index), name: ShortText.cut(operation.name), state: operation.state.rawValue)
                }, dependencies: operations.map { $0.dependencies.flatMap { Array($0) } })
        }
        var nodeOfFamily: [String: Int] = [:]
        var node: [Int] = []
        var members: [[Int]] = []
        for (index, operation) in operations.enumerated() {
            let family = operation.family.isEmpty ? operation.name : operation.family
            let known = nodeOfFamily[family] ?? members.count
            if known == members.count {
                nodeOfFamily[family] = known
                members.append([])
            }
            members[known].append(index)
            node.append(known)
        }
        var dependencies = members.map { _ in Set<Int>() }
        for (index, operation) in operations.enumerated() {
            for range in operation.dependencies {
                guard let awaited = range.first, operations.indices.contains(awaited), node[awaited] != node[index]
                else {
                    continue
                }
                dependencies[node[index]].insert(node[awaited])
            }
        }
        return Graph(
            nodes: members.map { members in
                let first = operations[members[0]]
                let isOne = members.count == 1
                return .init(
                    id: isOne ? Int64(members[0]) : nil, name: ShortText.cut(isOne ? first.name : first.family),
                    state: State.ofAll(members.lazy.map { operations[$0].state }).rawValue, count: members.count)
            }, dependencies: dependencies.map { $0.sorted() })
    }
}

extension DashboardReport.State {
    /// The state of a family: the one of its members that needs the attention of a person most.
    static func ofAll(_ states: some Sequence<Self>) -> Self {
        let order: [Self] = [.failed, .running, .waiting, .cancelled, .skipped, .done]
        let found = Set(states)
        return order.first { found.contains($0) } ?? .done
    }
}

extension DashboardReport.Operation {
    /// The running time until the end or until now; nil if it is unknown.
    func time(_ now: ContinuousClock.Instant) -> Duration? {
        ran ?? began.map { (ended ?? now) - $0 }
    }
}
