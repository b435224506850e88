#if Durable
import DashboardCore
import OperationsDurable

extension DurableSource {
    /// The queues, workers and schedules of the store.
    func overview() async throws -> JSON {
        let snapshot = try await store.snapshot()
        let schedules = try await store.schedules()
        let now = snapshot.instant
        let queues = snapshot.queues.map { queue in
            let counts = queue.counts.values.reduce(into: [DurableState: Int]()) { $0.merge($1, uniquingKeysWith: +) }
            return JSON.members([
                "name": .text(ShortText.cut(queue.name)), "suspended": .boolean(queue.isSuspended),
                "limit": JSON(queue.limit), "limitPerKey": JSON(queue.limitPerKey),
                "oldest": JSON(queue.oldestReadyAt.map { (now - $0).inSeconds }),
                "counts": .list(
                    DurableState.shown.compactMap { state in
                        counts[state].map { .list([.text(state.word), .number($0)]) }
                    }),
            ])
        }
        let workers = snapshot.workers.prefix(200).map { worker in
            JSON.members([
                "name": .text(ShortText.cut(worker.name)), "running": .number(worker.running),
                "lease": .decimal((worker.leaseEnd - now).inSeconds),
                "queues": .text(ShortText.cut(worker.queues.joined(separator: ", "))),
            ])
        }
        var totals: [DurableState: Int] = [:]
        for queue in snapshot.queues {
            for counts in queue.counts.values { totals.merge(counts, uniquingKeysWith: +) }
        }
        func total(_ states: DurableState...) -> JSON { .number(states.reduce(0) { $0 + (totals[$1] ?? 0) }) }
        return .members([
            "id": .text(id), "kind": .text("durable"), "name": .text(ShortText.cut(name)),
            "running": total(.running, .finishing), "ready": total(.ready),
            "waiting": total(.blocked, .waiting, .scheduled, .awaitingSignal), "done": total(.succeeded),
            "failed": total(.failed, .crashed, .discarded), "cancelled": total(.cancelled),
            "oldest": JSON(snapshot.queues.compactMap(\.oldestReadyAt).min().map { (now - $0).inSeconds }),
            "queues": .list(queues), "workers": .list(Array(workers)),
            "schedules": .list(
                schedules.prefix(200).map { schedule in
                    .members([
                        "name": .text(ShortText.cut(schedule.id)), "cron": .text(ShortText.cut(schedule.cron)),
                        "operation": .text(ShortText.cut(schedule.operation)),
                        "queue": .text(ShortText.cut(schedule.queue)),
                        "next": .decimal((schedule.nextAt - now).inSeconds),
                    ])
                }), "steering": .boolean(configuration.permitsSteering),
        ])
    }

    /// The bars of the operations that run, and of the latest that succeeded or failed.
    func timeline(_ seconds: Int) async throws -> JSON {
        let (now, pageNow) = (try await store.snapshot().instant, PageClock.now)
        var bars: [TimelineBars.Bar] = []
        for (states, age) in [
            (Set<DurableState>([.running]), nil as Duration?),
            (Set([.succeeded, .failed, .crashed]), .seconds(seconds)),
        ] {
            let filter = DurableFilter(states: states, maximumAge: age, limit: 1000)
            for record in try await store.records(matching: filter, includesInputs: false) {
                guard let start = record.startedAt else { continue }
                let end = record.endedAt ?? now
                bars.append(
                    .init(
                        id: record.id.rawValue, name: ShortText.cut(record.name), state: record.state.word,
                        start: pageNow - (now - start).inSeconds, end: pageNow - (now - end).inSeconds))
            }
        }
        return TimelineBars(bars).json(now: pageNow, seconds: seconds)
    }
}

extension DurableState {
    /// The states in the order of a life.
    static let shown: [DurableState] = [
        .scheduled, .blocked, .waiting, .awaitingSignal, .ready, .running, .finishing, .succeeded, .failed, .crashed,
        .discarded, .cancelled,
    ]

    /// The state on the page: that of a queue of this process where both mean the same.
    var word: String {
        switch self {
        case .succeeded: "done"
        case .awaitingSignal: "signal"
        default: "\(self)"
        }
    }
}
#endif
