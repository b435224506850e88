import DashboardCore
import Operations

extension QueueSource {
    /// A page of the operations: those that execute, those that wait in the order added, and those that ended.
    func rows(of queue: OperationQueue, _ query: OperationSearch) -> JSON {
        var page = Page(query)
        let isAlive = ["", "running", "ready", "waiting"].contains(query.state)
        if isAlive {
            let operations = queue.presentOperations
            for isRunning in [true, false] where query.state.isEmpty || (query.state == "running") == isRunning {
                for operation in operations where operation.isExecuting == isRunning && !operation.isFinished {
                    guard isRunning || query.state.isEmpty || operation.stateWord == query.state else { continue }
                    guard query.matches(operation.searchedName) else { continue }
                    page.add { row(of: queue, operation) }
                }
            }
        }
        if query.state.isEmpty || !isAlive {
            for ended in recorder.read({ $0.ended.latestFirst }) {
                guard query.state.isEmpty || ended.state == query.state, query.matches(ended.name) else { continue }
                page.add { Self.row(of: ended) }
            }
        }
        return page.json
    }

    /// The part of a list that a page shows, and the number of all rows.
    private struct Page {
        private let first: Int
        private var count = 0
        private var rows: [JSON] = []

        init(_ query: OperationSearch) { first = query.cursor }

        mutating func add(_ row: () -> JSON) {
            if count >= first, rows.count < OperationSearch.rowLimit { rows.append(row()) }
            count += 1
        }

        var json: JSON {
            let next = first + rows.count
            return .members([
                "rows": .list(rows), "total": .number(count), "first": .number(first),
                "next": next < count ? .number(next) : .null,
            ])
        }
    }

    private func row(of queue: OperationQueue, _ operation: Operation) -> JSON {
        let number = show(operation)
        let explanation = queue.explain(operation)
        let added = recorder.read { $0.added[number] }
        let isRunning = explanation.executionTime != nil || operation.isExecuting
        let time = isRunning ? explanation.executionTime?.inSeconds : added.map { PageClock.now - $0 }
        return .members([
            "id": .text(String(number)), "name": .text(operation.shortName), "state": .text(operation.stateWord),
            "note": .text(isRunning && explanation.reasons.count < 2 ? "" : explanation.note), "seconds": JSON(time),
            "priority": .number(operation.queuePriority.rank), "dependents": .number(explanation.dependentCount),
        ])
    }

    private static func row(of ended: Recorder.Ended) -> JSON {
        .members([
            "id": .text(String(ended.id)), "name": .text(ended.name), "state": .text(ended.state),
            "note": .text(ended.error ?? ""), "seconds": JSON(ended.ran),
        ])
    }

    /// Everything about one operation; nil if neither the queue nor the record has it.
    func detail(of queue: OperationQueue, _ number: Int64) -> JSON? {
        guard let operation = find(number, in: queue) else {
            guard let ended = recorder.read({ $0.ended.latestFirst.first { $0.id == number } }) else { return nil }
            return .members([
                "id": .text(String(number)), "name": .text(ended.name), "state": .text(ended.state),
                "facts": .list([
                    fact("waited", ended.waited), fact("ran", ended.ran),
                    fact("since end", PageClock.now - ended.end),
                ]), "error": JSON(ended.error),
            ])
        }
        let explanation = queue.explain(operation)
        let dependencies = operation.dependencies
        return .members([
            "id": .text(String(number)), "name": .text(operation.shortName), "state": .text(operation.stateWord),
            "type": .text(ShortText.cut("\(type(of: operation))")), "explanation": .text(explanation.note),
            "facts": .list([
                fact("executes for", explanation.executionTime?.inSeconds),
                fact("since added", recorder.read { $0.added[number] }.map { PageClock.now - $0 }),
            ]),
            "priority": .number(operation.queuePriority.rank), "dependents": .number(explanation.dependentCount),
            "dependencyCount": .number(dependencies.count),
            "dependencies": .list(
                dependencies.prefix(50).map { dependency in
                    .members([
                        "id": .text(String(show(dependency))), "name": .text(dependency.shortName),
                        "state": .text(dependency.stateWord),
                    ])
                }),
        ])
    }

    private func fact(_ title: String, _ seconds: Double?) -> JSON { .list([.text(title), JSON(seconds)]) }
}

extension Operation {
    fileprivate var searchedName: String { name ?? "\(type(of: self))" }
}

extension Explanation {
    /// The reasons, without the operation's own name.
    var note: String {
        let text = description
        let own = operation + ": "
        return ShortText.cut(text.hasPrefix(own) ? String(text.dropFirst(own.count)) : text, to: ShortText.noteLimit)
    }
}
