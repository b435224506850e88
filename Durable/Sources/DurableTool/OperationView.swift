public import DurableCore
public import OperationsDurable

/// One operation, as rows of tables and as JSON.
public struct OperationView: Sendable {
    private let record: DurableRecord
    private let now: DurableInstant

    /// - Parameter now: The present instant of the database's clock.
    public init(_ record: DurableRecord, now: DurableInstant) { (self.record, self.now) = (record, now) }

    /// The columns of lists.
    public static let columns: [TableLayout.Column] = [
        .init("ID", isRight: true), .init("STATE"), .init("QUEUE", isFlexible: true), .init("NAME", isFlexible: true),
        .init("AGE", isRight: true), .init("FAILED", isRight: true), .init("NOTE", isFlexible: true),
    ]

    /// The cells of a list.
    public var row: [String] {
        [
            "\(record.id)", StateNames.name(record.state), record.queue, record.name, Age.text(now - ageBegin),
            record.failures == 0 ? "" : "\(record.failures)", note,
        ]
    }

    private var ageBegin: DurableInstant {
        (record.state.isEnded ? record.endedAt : record.state == .running ? record.startedAt : nil) ?? record.addedAt
    }

    private var note: String {
        var notes: [String] = []
        if record.isCancelRequested, !record.state.isEnded { notes.append("cancellation requested") }
        if record.crashes > 0, !record.state.isEnded {
            notes.append("its worker vanished \(record.crashes) time\(record.crashes == 1 ? "" : "s")")
        }
        if let wake = record.wakeAt, !record.state.isEnded {
            notes.append(
                wake <= now
                    ? "due" : "\(record.state == .awaitingSignal ? "until" : "starts") in \(Age.text(wake - now))")
        }
        if let reason = record.reason, !reason.isEmpty { notes.append(reason) }
        return notes.joined(separator: "; ")
    }

    /// The members that lists have.
    public var members: [JSONText.Member] {
        let values: KeyValuePairs<String, JSONText> = [
            "id": JSONText(record.id), "state": .text(StateNames.name(record.state)), "queue": .text(record.queue),
            "name": .text(record.name), "priority": .text("\(record.priority)"), "limitKey": JSONText(record.limitKey),
            "parent": JSONText(record.parent), "failures": JSONText(record.failures),
            "crashes": JSONText(record.crashes), "cancelRequested": .boolean(record.isCancelRequested),
            "addedAt": JSONText(record.addedAt), "readyAt": JSONText(record.readyAt), "wakeAt": JSONText(record.wakeAt),
            "startedAt": JSONText(record.startedAt), "endedAt": JSONText(record.endedAt),
            "deadline": JSONText(record.deadline), "reason": JSONText(record.reason),
        ]
        return values.map { JSONText.Member($0.key, $0.value) }
    }

    /// The facts about one operation, by their titles.
    public var facts: [[String]] {
        let times: [(String, DurableInstant?)] = [
            ("added", record.addedAt), ("ready", record.readyAt), ("next", record.wakeAt),
            ("started", record.startedAt), ("ended", record.endedAt), ("deadline", record.deadline),
        ]
        var facts = [
            ["operation", "\(record.id)"], ["name", record.name], ["queue", record.queue],
            ["state", StateNames.name(record.state)], ["priority", "\(record.priority)"],
        ]
        if let key = record.limitKey { facts.append(["limit key", key]) }
        if let parent = record.parent { facts.append(["parent", "\(parent)"]) }
        for (title, instant) in times {
            guard let instant else { continue }
            let isPast = instant <= now
            let distance = Age.text(isPast ? now - instant : instant - now)
            facts.append([title, "\(instant) (\(isPast ? "\(distance) ago" : "in \(distance)"))"])
        }
        facts.append(["failed attempts", "\(record.failures)"])
        if record.crashes > 0 { facts.append(["deaths of workers", "\(record.crashes)"]) }
        if record.isCancelRequested { facts.append(["cancellation", "requested"]) }
        if let reason = record.reason, !reason.isEmpty { facts.append(["reason", reason]) }
        return facts
    }
}

/// The attempts of one operation.
public enum AttemptView {
    public static let columns: [TableLayout.Column] = [
        .init("ATTEMPT", isRight: true), .init("OUTCOME"), .init("STARTED"), .init("TOOK", isRight: true),
        .init("WORKER", isFlexible: true), .init("ERROR", isFlexible: true),
    ]

    private static func outcome(_ outcome: DurableAttempt.Outcome) -> String {
        switch outcome {
        case .unfinished: "unfinished"
        case .failed: "failed"
        case .lostLease: "lost-lease"
        case .ended(let state): StateNames.name(state)
        }
    }

    public static func row(_ attempt: DurableAttempt, number: Int) -> [String] {
        [
            "\(number)", outcome(attempt.outcome), "\(attempt.startedAt)",
            attempt.endedAt.map { Age.text($0 - attempt.startedAt) } ?? "", attempt.worker, attempt.reason ?? "",
        ]
    }

    public static func json(_ attempt: DurableAttempt) -> JSONText {
        .members([
            "lease": JSONText(attempt.lease), "outcome": .text(outcome(attempt.outcome)),
            "startedAt": JSONText(attempt.startedAt), "endedAt": JSONText(attempt.endedAt),
            "worker": .text(attempt.worker), "reason": JSONText(attempt.reason),
        ])
    }
}
