extension SQL {
    /// The statements on all tables except operations and their payloads.
    var tableText: String {
        switch self {
        case .insertQueue: "INSERT INTO main.durable_queue(name) VALUES (?1)"
        case .queueByName: "SELECT \(Self.queueColumns) FROM main.durable_queue WHERE name = ?1"
        case .queueByID: "SELECT \(Self.queueColumns) FROM main.durable_queue WHERE id = ?1"
        case .queues: "SELECT \(Self.queueColumns) FROM main.durable_queue ORDER BY id"
        case .updateQueue:
            """
            UPDATE main.durable_queue SET is_suspended = ?2, max_running = ?3, max_per_key = ?4, rate_count = ?5, \
            rate_period = ?6, rate_filled_at = ?7, current_epoch = ?8, last_epoch = ?9, key_rate_count = ?10, \
            key_rate_period = ?11 WHERE id = ?1
            """
        case .insertKind: "INSERT INTO main.durable_kind(name) VALUES (?1)"
        case .kindByName: "SELECT id FROM main.durable_kind WHERE name = ?1"
        case .kindByID: "SELECT name FROM main.durable_kind WHERE id = ?1"
        case .counters: "SELECT epoch, kind, state, count FROM main.durable_counter WHERE queue = ?1"
        case .epochCounters:
            "SELECT epoch, kind, state, count FROM main.durable_counter WHERE queue = ?1 AND epoch = ?2"
        case .firstEpoch: "SELECT min(epoch) FROM main.durable_counter WHERE queue = ?1 AND epoch >= ?2"
        // Without statistics, SQLite would read the counters of all epochs by the primary key.
        case .runningCount:
            """
            SELECT sum(count) FROM main.durable_counter INDEXED BY durable_counter_running WHERE queue = ?1 AND state = 4
            """
        case .addCounter:
            """
            INSERT INTO main.durable_counter(queue, epoch, kind, state, count) VALUES (?1, ?2, ?3, ?4, ?5) \
            ON CONFLICT (queue, epoch, kind, state) DO UPDATE SET count = count + excluded.count
            """
        case .removeCounter:
            "DELETE FROM main.durable_counter WHERE queue = ?1 AND epoch = ?2 AND kind = ?3 AND state = ?4 AND count = 0"
        case .key: "SELECT \(Self.keyColumns) FROM main.durable_key WHERE queue = ?1 AND key = ?2"
        case .keys: "SELECT \(Self.keyColumns) FROM main.durable_key WHERE queue = ?1 ORDER BY key"
        case .dueKeys:
            """
            SELECT queue, key FROM main.durable_key WHERE wake_at IS NOT NULL AND wake_at <= ?1 \
            ORDER BY wake_at, queue, key LIMIT ?2
            """
        case .nextKey: "SELECT min(wake_at) FROM main.durable_key WHERE wake_at IS NOT NULL"
        case .saveKey:
            """
            INSERT INTO main.durable_key(queue, \(Self.keyColumns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) \
            ON CONFLICT (queue, key) DO UPDATE SET max_running = ?3, running = ?4, ready = ?5, blocked = ?6, \
            rate_count = ?7, rate_period = ?8, rate_filled_at = ?9, wake_at = ?10
            """
        case .removeKey: "DELETE FROM main.durable_key WHERE queue = ?1 AND key = ?2"
        case .unique: "SELECT operation, held_until FROM main.durable_unique WHERE kind = ?1 AND key = ?2"
        case .uniquePeriod: "SELECT max(held_until) FROM main.durable_unique WHERE operation = ?1"
        case .saveUnique:
            """
            INSERT INTO main.durable_unique(kind, key, operation, held_until) VALUES (?1, ?2, ?3, ?4) \
            ON CONFLICT (kind, key) DO UPDATE SET operation = ?3, held_until = ?4
            """
        case .history:
            "SELECT position, kind, name, result FROM main.durable_history WHERE operation = ?1 ORDER BY position"
        case .insertHistory:
            """
            INSERT INTO main.durable_history(operation, position, kind, name, result) VALUES (?1, ?2, ?3, ?4, ?5) \
            ON CONFLICT (operation, position) DO UPDATE SET result = ?5
            """
        case .attempts: "SELECT \(Self.attemptColumns) FROM main.durable_attempt WHERE operation = ?1 ORDER BY fence"
        case .insertAttempt:
            """
            INSERT INTO main.durable_attempt(\(Self.attemptColumns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
            ON CONFLICT (operation, fence) DO UPDATE SET worker = ?3, started_at = ?4, ended_at = ?5, outcome = ?6, \
            reason = ?7
            """
        case .trimAttempts:
            """
            DELETE FROM main.durable_attempt WHERE operation = ?1 AND fence <= (SELECT fence FROM main.durable_attempt \
            WHERE operation = ?1 ORDER BY fence DESC LIMIT 1 OFFSET ?2)
            """
        case .events: "SELECT \(Self.eventColumns) FROM main.durable_event WHERE number > ?1 ORDER BY number LIMIT ?2"
        case .insertEvent:
            "INSERT INTO main.durable_event(\(Self.eventColumns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
        case .removeEvents:
            """
            DELETE FROM main.durable_event WHERE number < (SELECT min(number) FROM main.durable_event) + ?2 AND at < ?1
            """
        case .signal:
            "SELECT number, payload FROM main.durable_signal WHERE operation = ?1 AND name = ?2 ORDER BY number LIMIT 1"
        case .lastSignal: "SELECT max(number) FROM main.durable_signal WHERE operation = ?1"
        case .insertSignal:
            "INSERT INTO main.durable_signal(operation, number, name, payload) VALUES (?1, ?2, ?3, ?4)"
        case .removeSignal: "DELETE FROM main.durable_signal WHERE operation = ?1 AND number = ?2"
        case .worker: "SELECT \(Self.workerColumns) FROM main.durable_worker WHERE id = ?1"
        case .workers: "SELECT \(Self.workerColumns) FROM main.durable_worker ORDER BY id"
        case .expiredWorkers: "SELECT id FROM main.durable_worker WHERE lease_end < ?1 ORDER BY id"
        case .saveWorker:
            """
            INSERT INTO main.durable_worker(\(Self.workerColumns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
            ON CONFLICT (id) DO UPDATE SET name = ?2, lease_end = ?3, kinds = ?4, queues = ?5, process = ?6, isolates = ?7
            """
        case .removeWorker: "DELETE FROM main.durable_worker WHERE id = ?1"
        case .schedule: "SELECT \(Self.scheduleColumns) FROM main.durable_schedule WHERE name = ?1"
        case .schedules: "SELECT \(Self.scheduleColumns) FROM main.durable_schedule ORDER BY name"
        case .dueSchedules:
            "SELECT \(Self.scheduleColumns) FROM main.durable_schedule WHERE \(Self.scheduleDue) <= ?1 ORDER BY name"
        case .nextSchedule: "SELECT min(\(Self.scheduleDue)) FROM main.durable_schedule"
        case .saveSchedule:
            """
            INSERT INTO main.durable_schedule(\(Self.scheduleColumns)) \
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) ON CONFLICT (name) DO UPDATE SET cron = ?2, \
            missed = ?3, next_at = ?4, kind = ?5, queue = ?6, input = ?7, priority = ?8, retry = ?9, key = ?10, \
            timeout = ?11, due_at = ?12, overlap = ?13, last = ?14
            """
        case .removeSchedule: "DELETE FROM main.durable_schedule WHERE name = ?1"
        case .meta: "SELECT value FROM main.durable_meta WHERE name = ?1"
        case .setMeta: "UPDATE main.durable_meta SET value = ?2 WHERE name = ?1"
        default: preconditionFailure("the statement \(self) has no text")
        }
    }
}
