#if Durable
import DashboardCore
import OperationsDurable

extension DurableSource {
    /// A page of the operations, in the order added. The database finds them; a name must be complete.
    func rows(_ query: OperationSearch) async throws -> JSON {
        var filter = DurableFilter(limit: OperationSearch.rowLimit + 1)
        if !query.state.isEmpty {
            filter.states =
                query.state == "waiting"
                ? [.blocked, .waiting, .scheduled, .awaitingSignal]
                : Set(DurableState.shown.filter { $0.word == query.state })
        }
        filter.queue = query.queue.isEmpty ? nil : query.queue
        filter.name = query.text.isEmpty ? nil : query.text
        filter.after = query.cursor > 0 ? OperationID(Int64(query.cursor)) : nil
        let records = try await store.records(matching: filter, includesInputs: false)
        let page = records.prefix(OperationSearch.rowLimit)
        let now = try await store.snapshot().instant
        let hasMore = records.count > page.count
        return .members([
            "rows": .list(
                page.map { record in
                    let begin = record.state == .running ? record.startedAt : record.endedAt ?? record.addedAt
                    return .members([
                        "id": .text(String(record.id.rawValue)), "name": .text(ShortText.cut(record.name)),
                        "state": .text(record.state.word), "queue": .text(ShortText.cut(record.queue)),
                        "note": .text(ShortText.cut(record.reason ?? "", to: ShortText.noteLimit)),
                        "seconds": JSON(begin.map { (now - $0).inSeconds }),
                        "attempts": .number(Int(record.failures)),
                    ])
                }), "total": hasMore || query.cursor > 0 ? .null : .number(page.count), "first": .number(0),
            "next": hasMore ? JSON(page.last.map { Int($0.id.rawValue) }) : .null,
        ])
    }

    /// Everything about one operation. Its input is hidden unless the program permits it.
    func detail(_ number: Int64) async throws -> JSON? {
        let id = OperationID(number)
        guard let record = try? await store.record(of: id) else { return nil }
        let now = try await store.snapshot().instant
        let explanation = try await store.explain(id)
        func fact(_ title: String, _ instant: DurableInstant?) -> JSON? {
            instant.map { .list([.text(title), .decimal(abs((now - $0).inSeconds))]) }
        }
        let attempts = try await store.attempts(of: id).suffix(50)
        let input =
            configuration.showsInputs
            ? ShortText.cut(String(decoding: record.input.prefix(20_000), as: UTF8.self), to: ShortText.noteLimit) : nil
        return .members([
            "id": .text(String(number)), "name": .text(ShortText.cut(record.name)), "state": .text(record.state.word),
            "type": .text(ShortText.cut(record.queue)),
            "explanation": .text(ShortText.cut("\(explanation)", to: ShortText.noteLimit)),
            "facts": .list(
                [
                    fact("since added", record.addedAt), fact("since start", record.startedAt),
                    fact("since end", record.endedAt),
                    record.state.isEnded ? nil : fact("starts in", record.wakeAt.flatMap { $0 > now ? $0 : nil }),
                ].compactMap(\.self)),
            "input": JSON(input), "error": JSON(record.reason.map { ShortText.cut($0, to: ShortText.noteLimit) }),
            "attempts": .list(attempts.map(Self.json)),
        ])
    }

    private static func json(_ attempt: DurableAttempt) -> JSON {
        let outcome: String
        switch attempt.outcome {
        case .ended(let state): outcome = state.word
        case .failed: outcome = "failed"
        case .lostLease: outcome = "lost its worker"
        case .unfinished: outcome = "running"
        }
        let seconds: Double? = attempt.endedAt.map { ($0 - attempt.startedAt).inSeconds }
        let error: String? = attempt.reason.map { ShortText.cut($0, to: ShortText.noteLimit) }
        return .members([
            "worker": .text(ShortText.cut(attempt.worker)), "outcome": .text(outcome), "seconds": JSON(seconds),
            "error": JSON(error),
        ])
    }

    /// Carries out a command.
    func steer(_ command: Command) async throws -> Result<JSON, HTTPStatus> {
        func ids(_ numbers: [Int64]) -> [OperationID] { numbers.map { OperationID($0) } }
        func queue(_ name: String) -> DurableQueue { DurableQueue(name, in: store) }
        switch command {
        case .cancel(let numbers), .priority(let numbers, _), .retry(let numbers), .discard(let numbers),
            .move(let numbers, _):
            try await change(ids(numbers), by: command)
            return .success(.members(["changed": .number(numbers.count)]))
        case .suspend(let name): try await queue(name).suspend()
        case .resume(let name): try await queue(name).resume()
        case .limit(let name, let limit):
            if let limit, limit < 0 { return .failure(.badRequest) }
            try await queue(name).setLimit(limit)
        }
        return .success(.members(["changed": .number(1)]))
    }

    private func change(_ ids: [OperationID], by command: Command) async throws {
        switch command {
        case .cancel: try await store.cancel(ids)
        case .priority(_, let rank):
            let all: [DurablePriority] = [.veryLow, .low, .normal, .high, .veryHigh]
            try await store.setPriority(all[rank + 2], of: ids)
        case .retry: try await store.retry(ids)
        case .discard: try await store.discard(ids, reason: "discarded on the dashboard")
        case .move(_, let target): try await store.move(ids, to: target)
        case .suspend, .resume, .limit: break
        }
    }
}
#endif
