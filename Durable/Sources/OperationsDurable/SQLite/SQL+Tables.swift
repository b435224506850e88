import DurableCore

extension SQL {
    /// The statements on all tables except operations and their payloads.
    var tableText: String {
        switch self {
        case .insertQueue: "INSERT INTO main.durable_queue(name) VALUES (?1)"
        case .queueByName: "SELECT \(QueueRow.table.list) FROM main.durable_queue WHERE name = ?1"
        case .queueByID: "SELECT \(QueueRow.table.list) FROM main.durable_queue WHERE id = ?1"
        case .queues: "SELECT \(QueueRow.table.list) FROM main.durable_queue ORDER BY id"
        case .updateQueue: QueueRow.table.update(.sqlite)
        case .insertKind: "INSERT INTO main.durable_kind(name) VALUES (?1)"
        case .kindByName: "SELECT id FROM main.durable_kind WHERE name = ?1"
        case .kindByID: "SELECT name FROM main.durable_kind WHERE id = ?1"
        case .counters: "SELECT \(CounterRow.table.list) FROM main.durable_counter WHERE queue = ?1"
        case .epochCounters:
            "SELECT \(CounterRow.table.list) FROM main.durable_counter WHERE queue = ?1 AND epoch = ?2"
        case .firstEpoch: "SELECT min(epoch) FROM main.durable_counter WHERE queue = ?1 AND epoch >= ?2"
        // Without statistics, SQLite would read the counters of all epochs by the primary key.
        case .runningCount:
            """
            SELECT sum(count) FROM main.durable_counter INDEXED BY durable_counter_running WHERE queue = ?1 AND state = 4
            """
        case .addCounter:
            CounterRow.table.upsert(.sqlite, changing: [("count", "count + excluded.count")])
        case .removeCounter:
            "DELETE FROM main.durable_counter WHERE queue = ?1 AND epoch = ?2 AND kind = ?3 AND state = ?4 AND count = 0"
        case .key: "SELECT \(KeyRow.table.list) FROM main.durable_key WHERE queue = ?1 AND key = ?2"
        case .keys: "SELECT \(KeyRow.table.list) FROM main.durable_key WHERE queue = ?1 ORDER BY key"
        case .dueKeys:
            """
            SELECT queue, key FROM main.durable_key WHERE wake_at IS NOT NULL AND wake_at <= ?1 \
            ORDER BY wake_at, queue, key LIMIT ?2
            """
        case .nextKey: "SELECT min(wake_at) FROM main.durable_key WHERE wake_at IS NOT NULL"
        case .saveKey: KeyRow.table.upsert(.sqlite)
        case .removeKey: "DELETE FROM main.durable_key WHERE queue = ?1 AND key = ?2"
        case .unique: "SELECT \(UniqueRow.table.list) FROM main.durable_unique WHERE kind = ?1 AND key = ?2"
        case .uniquePeriod: "SELECT max(held_until) FROM main.durable_unique WHERE operation = ?1"
        case .saveUnique: UniqueRow.table.upsert(.sqlite)
        case .history:
            "SELECT \(HistoryEntry.table.list) FROM main.durable_history WHERE operation = ?1 ORDER BY position"
        case .insertHistory: HistoryEntry.table.upsert(.sqlite, changing: [("kind", "kind"), ("name", "name")])
        case .attempts: "SELECT \(AttemptRow.table.list) FROM main.durable_attempt WHERE operation = ?1 ORDER BY fence"
        case .insertAttempt: AttemptRow.table.upsert(.sqlite)
        case .trimAttempts:
            """
            DELETE FROM main.durable_attempt WHERE operation = ?1 AND fence <= (SELECT fence FROM main.durable_attempt \
            WHERE operation = ?1 ORDER BY fence DESC LIMIT 1 OFFSET ?2)
            """
        case .events: "SELECT \(EventRow.table.list) FROM main.durable_event WHERE number > ?1 ORDER BY number LIMIT ?2"
        case .insertEvent: EventRow.table.insertion(.sqlite)
        case .removeEvents:
            """
            DELETE FROM main.durable_event WHERE number < (SELECT min(number) FROM main.durable_event) + ?2 AND at < ?1
            """
        case .signal:
            "SELECT \(SignalRow.table.list) FROM main.durable_signal WHERE operation = ?1 AND name = ?2 ORDER BY number LIMIT 1"
        case .lastSignal: "SELECT max(number) FROM main.durable_signal WHERE operation = ?1"
        case .insertSignal: SignalRow.table.insertion(.sqlite)
        case .removeSignal: "DELETE FROM main.durable_signal WHERE operation = ?1 AND number = ?2"
        case .worker: "SELECT \(WorkerRow.table.list) FROM main.durable_worker WHERE id = ?1"
        case .workers: "SELECT \(WorkerRow.table.list) FROM main.durable_worker ORDER BY id"
        case .expiredWorkers: "SELECT id FROM main.durable_worker WHERE lease_end < ?1 ORDER BY id"
        case .saveWorker: WorkerRow.table.upsert(.sqlite)
        case .removeWorker: "DELETE FROM main.durable_worker WHERE id = ?1"
        case .schedule: "SELECT \(ScheduleRow.table.list) FROM main.durable_schedule WHERE name = ?1"
        case .schedules: "SELECT \(ScheduleRow.table.list) FROM main.durable_schedule ORDER BY name"
        case .dueSchedules:
            "SELECT \(ScheduleRow.table.list) FROM main.durable_schedule WHERE \(Self.scheduleDue) <= ?1 ORDER BY name"
        case .nextSchedule: "SELECT min(\(Self.scheduleDue)) FROM main.durable_schedule"
        case .saveSchedule: ScheduleRow.table.upsert(.sqlite)
        case .removeSchedule: "DELETE FROM main.durable_schedule WHERE name = ?1"
        case .meta: "SELECT value FROM main.durable_meta WHERE name = ?1"
        case .setMeta: "UPDATE main.durable_meta SET value = ?2 WHERE name = ?1"
        default: preconditionFailure("the statement \(self) has no text")
        }
    }
}
