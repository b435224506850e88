import ArgumentParser
import DurableTool
import OperationsDurable

struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show all about operations: times, input, output, attempts with errors, and why they do not run.")

    @OptionGroup var store: StoreOptions
    @OptionGroup var watch: WatchOptions

    @Argument(help: "The identifiers of operations.")
    var ids: [String]

    func run() async throws {
        let ids: [OperationID]
        do { ids = try self.ids.map { try Selection.id($0) } } catch { throw Failure(error, store: nil) }
        try await watch.view(store, "durable show") { store, output in
            let now = try await store.snapshot().instant
            var (found, unknown): ([JSONText], [OperationID]) = ([], [])
            for (index, id) in ids.enumerated() {
                do {
                    if self.store.json {
                        found.append(try await json(id, store, now))
                    } else {
                        if index > 0 { try output.line("") }
                        try await show(id, store, now, output)
                    }
                } catch DurableError.unknownOperation(let id) { unknown.append(id) }
            }
            return try finish(found, unknown: unknown, isJSON: self.store.json, output)
        }
    }

    private func json(_ id: OperationID, _ store: any DurableStore, _ now: DurableInstant) async throws -> JSONText {
        let record = try await store.record(of: id)
        let output = try await store.output(of: id)
        let more: KeyValuePairs<String, JSONText> = [
            "input": .text(String(decoding: record.input, as: UTF8.self)),
            "output": JSONText(output.map { String(decoding: $0, as: UTF8.self) }),
            "attempts": .list(try await store.attempts(of: id).map(AttemptView.json)),
            "reasons": .list(try await store.explain(id).reasons.map { .text($0.description) }),
        ]
        return .object(OperationView(record, now: now).members + more.map { JSONText.Member($0.key, $0.value) })
    }

    private func show(
        _ id: OperationID, _ store: any DurableStore, _ now: DurableInstant, _ output: Output
    ) async throws {
        let record = try await store.record(of: id)
        // A payload may have a megabyte, of which a terminal shows the beginning.
        let cut = output.width.map { $0 * 10 }
        func fact(_ title: String, _ text: String) throws {
            try output.line("\(CellText(title + ":").padded(to: 19))\(CellText(text, limit: cut).text)")
        }
        for line in OperationView(record, now: now).facts { try fact(line[0], line[1]) }
        try fact("input", String(decoding: record.input, as: UTF8.self))
        if let result = try await store.output(of: id) { try fact("output", String(decoding: result, as: UTF8.self)) }
        for reason in try await store.explain(id).reasons { try fact("why", reason.description) }
        let attempts = try await store.attempts(of: id)
        if attempts.isEmpty { return }
        let rows = attempts.enumerated().map { AttemptView.row($1, number: $0 + 1) }
        for line in TableLayout.lines(AttemptView.columns, rows, limit: output.width) { try output.line(line) }
    }
}

struct Explain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Explain why operations do not run, or which worker runs them.")

    @OptionGroup var store: StoreOptions
    @OptionGroup var watch: WatchOptions

    @Argument(help: "The identifiers of operations.")
    var ids: [String]

    func run() async throws {
        let ids: [OperationID]
        do { ids = try self.ids.map { try Selection.id($0) } } catch { throw Failure(error, store: nil) }
        try await watch.view(store, "durable explain") { store, output in
            var (found, unknown): ([JSONText], [OperationID]) = ([], [])
            for id in ids {
                do {
                    let explanation = try await store.explain(id)
                    if self.store.json {
                        found.append(
                            .members([
                                "id": JSONText(id), "name": .text(explanation.name),
                                "state": .text(StateNames.name(explanation.state)),
                                "reasons": .list(explanation.reasons.map { .text($0.description) }),
                            ]))
                    } else {
                        let title = "operation \(id) '\(CellText(explanation.name, limit: 200).text)' is "
                        try output.line("\(title)\(StateNames.name(explanation.state)):")
                        for reason in explanation.reasons { try output.line("  \(CellText(reason.description).text)") }
                    }
                } catch DurableError.unknownOperation(let id) { unknown.append(id) }
            }
            return try finish(found, unknown: unknown, isJSON: self.store.json, output)
        }
    }
}

/// Prints the JSON of operations and the identifiers of unknown ones, and returns the status.
private func finish(
    _ found: [JSONText], unknown: [OperationID], isJSON: Bool, _ output: Output
) throws -> ExitStatus {
    if isJSON {
        let ids = JSONText.list(unknown.map { JSONText($0) })
        try output.line(JSONText.members(["operations": .list(found), "unknown": ids]).line)
    }
    for id in unknown { try output.note("the store has no operation \(id)") }
    return unknown.isEmpty ? .done : .refused
}
