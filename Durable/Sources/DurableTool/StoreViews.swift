public import DurableCore
public import OperationsDurable

/// The queues of a store.
public enum QueueView {
    public static let columns: [TableLayout.Column] = [
        .init("QUEUE", isFlexible: true), .init("STATUS"), .init("READY", isRight: true),
        .init("RUNNING", isRight: true),
        .init("WAITING", isRight: true), .init("FAILED", isRight: true), .init("DONE", isRight: true),
        .init("LIMIT", isRight: true), .init("OLDEST", isRight: true),
    ]

    public static func row(_ queue: DurableSnapshot.Queue, now: DurableInstant) -> [String] {
        let counts = queue.totals
        let waiting = counts.filter { !$0.key.isEnded && $0.key != .ready && $0.key != .running }.values.reduce(0, +)
        let done = [DurableState.succeeded, .cancelled, .discarded].reduce(0) { $0 + (counts[$1] ?? 0) }
        return [
            queue.name, queue.isSuspended ? "suspended" : "open", "\(counts[.ready] ?? 0)", "\(counts[.running] ?? 0)",
            "\(waiting)", "\(counts[.failed] ?? 0)", "\(done)", queue.limit.map { "\($0)" } ?? "-",
            queue.oldestReadyAt.map { Age.text(now - $0) } ?? "-",
        ]
    }

    public static func json(_ queue: DurableSnapshot.Queue, now: DurableInstant) -> JSONText {
        .members([
            "name": .text(queue.name), "suspended": .boolean(queue.isSuspended), "counts": counts(queue.totals),
            "oldestReadyAt": JSONText(queue.oldestReadyAt), "limit": JSONText(queue.limit),
            "rate": JSONText(queue.rate.map(RateText.text)), "limitPerKey": JSONText(queue.limitPerKey),
            "ratePerKey": JSONText(queue.ratePerKey.map(RateText.text)),
        ])
    }

    /// Returns an object with the numbers of operations in each state.
    static func counts(_ counts: [DurableState: Int]) -> JSONText {
        let states = DurableState.allCases.filter { $0 != .crashed }
        return .object(states.map { JSONText.Member(StateNames.name($0), JSONText(counts[$0] ?? 0)) })
    }
}

extension DurableSnapshot.Queue {
    /// The number of operations in each state.
    public var totals: [DurableState: Int] {
        counts.values.reduce(into: [:]) { sum, states in sum.merge(states, uniquingKeysWith: +) }
    }
}

/// The limits of queues and of keys.
public enum LimitView {
    public static let columns: [TableLayout.Column] = [
        .init("QUEUE", isFlexible: true), .init("KEY", isFlexible: true), .init("LIMIT", isRight: true),
        .init("RATE", isRight: true), .init("PER KEY", isRight: true), .init("RATE PER KEY", isRight: true),
        .init("RUNNING", isRight: true), .init("BLOCKED", isRight: true),
    ]

    public static func rows(_ queue: DurableSnapshot.Queue, _ keys: [DurableKey]) -> [[String]] {
        func text(_ limit: Int?) -> String { limit.map { "\($0)" } ?? "-" }
        func text(_ rate: RateRule?) -> String { rate.map(RateText.text) ?? "-" }
        let totals = queue.totals
        let first = [
            queue.name, "-", text(queue.limit), text(queue.rate), text(queue.limitPerKey), text(queue.ratePerKey),
            "\(totals[.running] ?? 0)", "\(totals[.blocked] ?? 0)",
        ]
        return [first]
            + keys.map {
                [queue.name, $0.key, text($0.limit), text($0.rate), "", "", "\($0.running)", "\($0.blocked)"]
            }
    }

    public static func json(_ queue: DurableSnapshot.Queue, _ keys: [DurableKey]) -> JSONText {
        .members([
            "queue": .text(queue.name), "limit": JSONText(queue.limit), "rate": JSONText(queue.rate.map(RateText.text)),
            "limitPerKey": JSONText(queue.limitPerKey), "ratePerKey": JSONText(queue.ratePerKey.map(RateText.text)),
            "keys": .list(
                keys.map { key in
                    .members([
                        "key": .text(key.key), "limit": JSONText(key.limit),
                        "rate": JSONText(key.rate.map(RateText.text)), "running": JSONText(key.running),
                        "ready": JSONText(key.ready), "blocked": JSONText(key.blocked),
                    ])
                }),
        ])
    }
}

/// The workers of a store.
public enum WorkerView {
    public static let columns: [TableLayout.Column] = [
        .init("ID", isRight: true), .init("WORKER", isFlexible: true), .init("LEASE"), .init("RUNNING", isRight: true),
        .init("QUEUES", isFlexible: true), .init("OPERATIONS", isFlexible: true),
    ]

    public static func row(_ worker: DurableSnapshot.Worker, now: DurableInstant) -> [String] {
        let lease = worker.leaseEnd > now ? "for \(Age.text(worker.leaseEnd - now))" : "expired"
        return [
            "\(worker.id)", worker.name, lease, "\(worker.running)", worker.queues.joined(separator: ", "),
            worker.operations.joined(separator: ", "),
        ]
    }

    public static func json(_ worker: DurableSnapshot.Worker, now: DurableInstant) -> JSONText {
        .members([
            "id": .number(worker.id.rawValue), "name": .text(worker.name), "leaseEnd": JSONText(worker.leaseEnd),
            "expired": .boolean(worker.leaseEnd <= now), "running": JSONText(worker.running),
            "queues": .list(worker.queues.map { .text($0) }), "operations": .list(worker.operations.map { .text($0) }),
        ])
    }
}

/// The schedules of a store.
public enum ScheduleView {
    public static let columns: [TableLayout.Column] = [
        .init("SCHEDULE", isFlexible: true), .init("TIMES", isFlexible: true), .init("NEXT"),
        .init("IN", isRight: true),
        .init("OPERATION", isFlexible: true), .init("QUEUE", isFlexible: true), .init("LAST", isRight: true),
    ]

    public static func row(_ schedule: DurableSchedule, now: DurableInstant) -> [String] {
        [
            schedule.id, schedule.cron, "\(schedule.nextAt)",
            schedule.nextAt > now ? Age.text(schedule.nextAt - now) : "due", schedule.operation, schedule.queue,
            schedule.last.map { "\($0)" } ?? "-",
        ]
    }

    public static func json(_ schedule: DurableSchedule) -> JSONText {
        .members([
            "name": .text(schedule.id), "times": .text(schedule.cron), "nextAt": JSONText(schedule.nextAt),
            "operation": .text(schedule.operation), "queue": .text(schedule.queue),
            "missed": .text("\(schedule.missed)"), "overlap": .text("\(schedule.overlap)"),
            "last": JSONText(schedule.last),
        ])
    }
}

/// The numbers of a store.
public struct StatsView: Sendable {
    private let snapshot: DurableSnapshot
    private let schedules: Int

    /// Creates the numbers of a snapshot.
    public init(_ snapshot: DurableSnapshot, schedules: Int) { (self.snapshot, self.schedules) = (snapshot, schedules) }

    private var totals: [DurableState: Int] {
        snapshot.queues.reduce(into: [:]) { $0.merge($1.totals, uniquingKeysWith: +) }
    }

    private var oldest: DurableInstant? { snapshot.queues.compactMap(\.oldestReadyAt).min() }

    private var alive: Int { snapshot.workers.count { $0.leaseEnd > snapshot.instant } }

    private func kinds() -> [(name: String, counts: [DurableState: Int])] {
        var kinds: [String: [DurableState: Int]] = [:]
        for queue in snapshot.queues {
            for (name, counts) in queue.counts { kinds[name, default: [:]].merge(counts, uniquingKeysWith: +) }
        }
        return kinds.map { ($0.key, $0.value) }.sorted { $0.name < $1.name }
    }

    /// The columns of the table of names.
    public static let columns: [TableLayout.Column] =
        [.init("NAME", isFlexible: true)]
        + ["WAITING", "READY", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED", "DISCARDED"].map {
            .init($0, isRight: true)
        }

    /// The rows of the table of names, and their sum.
    public var rows: [[String]] {
        func row(_ name: String, _ counts: [DurableState: Int]) -> [String] {
            let waiting = counts.filter { !$0.key.isEnded && $0.key != .ready && $0.key != .running }.values.reduce(
                0, +)
            let states: [DurableState] = [.ready, .running, .succeeded, .failed, .cancelled, .discarded]
            return [name, "\(waiting)"] + states.map { "\(counts[$0] ?? 0)" }
        }
        return kinds().map { row($0.name, $0.counts) } + [row("all", totals)]
    }

    /// The line behind the table.
    public var summary: String {
        let age = oldest.map { "the oldest ready operation waits for \(Age.text(snapshot.instant - $0))" }
        let workers = "\(alive) worker\(alive == 1 ? "" : "s")"
        let expired = snapshot.workers.count - alive
        let suspended = snapshot.queues.count { $0.isSuspended }
        return [
            workers + (expired == 0 ? "" : ", \(expired) expired"),
            "\(snapshot.queues.count) queue\(snapshot.queues.count == 1 ? "" : "s")"
                + (suspended == 0 ? "" : ", \(suspended) suspended"),
            "\(schedules) schedule\(schedules == 1 ? "" : "s")", age ?? "no operation is ready",
        ].joined(separator: "; ")
    }

    public var json: JSONText {
        .members([
            "instant": JSONText(snapshot.instant), "counts": QueueView.counts(totals),
            "queues": JSONText(snapshot.queues.count),
            "suspendedQueues": JSONText(snapshot.queues.count { $0.isSuspended }), "workers": JSONText(alive),
            "expiredWorkers": JSONText(snapshot.workers.count - alive), "schedules": JSONText(schedules),
            "oldestReadyAt": JSONText(oldest),
            "names": .list(
                kinds().map { .members(["name": .text($0.name), "counts": QueueView.counts($0.counts)]) }),
        ])
    }
}
