/// The statements of a worker that uses version 1 of the schema. They never change.
///
/// Such a worker shares a file with workers of this version, so that all its statements must keep running.
enum Version1 {
    static let statements = [
        "insertOperation":
            """
        INSERT INTO durable_operation(id, queue, kind, epoch, priority, state, ready_at, wake_at, pending, \
        children, parent, failure_policy, root_cause, key, worker, fence, failures, lost_leases, retry, timeout, \
        deadline, added_at, started_at, ended_at, purge_at, is_cancel_requested, history_count, signal, \
        work_outcome, reason, input) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, \
        ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31)
        """,
        "updateOperation":
            """
        UPDATE durable_operation SET queue = ?2, kind = ?3, epoch = ?4, priority = ?5, state = ?6, ready_at = ?7, \
        wake_at = ?8, pending = ?9, children = ?10, parent = ?11, failure_policy = ?12, root_cause = ?13, key = \
        ?14, worker = ?15, fence = ?16, failures = ?17, lost_leases = ?18, retry = ?19, timeout = ?20, deadline = \
        ?21, added_at = ?22, started_at = ?23, ended_at = ?24, purge_at = ?25, is_cancel_requested = ?26, \
        history_count = ?27, signal = ?28, work_outcome = ?29, reason = ?30 WHERE id = ?1
        """,
        "operation":
            """
        SELECT id, queue, kind, epoch, priority, state, ready_at, wake_at, pending, children, parent, \
        failure_policy, root_cause, key, worker, fence, failures, lost_leases, retry, timeout, deadline, \
        added_at, started_at, ended_at, purge_at, is_cancel_requested, history_count, signal, work_outcome, \
        reason FROM durable_operation WHERE id = ?1
        """,
        "input":
            """
        SELECT coalesce(durable_operation.input, durable_input.data) FROM durable_operation LEFT JOIN \
        durable_input ON durable_input.id = durable_operation.id WHERE durable_operation.id = ?1
        """,
        "insertInput":
            """
        INSERT INTO durable_input(id, data) VALUES (?1, ?2)
        """,
        "output":
            """
        SELECT data FROM durable_output WHERE id = ?1
        """,
        "insertOutput":
            """
        INSERT OR REPLACE INTO durable_output(id, data) VALUES (?1, ?2)
        """,
        "removeEdges":
            """
        DELETE FROM durable_edge WHERE dependency = ?1
        """,
        "edgesTo":
            """
        SELECT dependency, dependent, is_await FROM durable_edge WHERE dependent = ?1 ORDER BY dependency
        """,
        "edgesFrom":
            """
        SELECT dependency, dependent, is_await FROM durable_edge WHERE dependency = ?1 ORDER BY dependent
        """,
        "insertEdge":
            """
        INSERT INTO durable_edge(dependency, dependent, is_await) VALUES (?1, ?2, ?3)
        """,
        "matching":
            """
        SELECT id FROM durable_operation WHERE id > ?1 AND (?2 IS NULL OR state = ?2) AND (?3 IS NULL OR queue = \
        ?3) AND (?4 IS NULL OR kind = ?4) ORDER BY id LIMIT ?5
        """,
        "children":
            """
        SELECT id FROM durable_operation WHERE parent = ?1 AND state < 7 ORDER BY id
        """,
        "ready":
            """
        SELECT priority, ready_at, id FROM durable_operation WHERE queue = ?1 AND epoch = ?2 AND kind = ?3 AND \
        state = 3 ORDER BY priority DESC, ready_at, id LIMIT ?4
        """,
        "due":
            """
        SELECT id FROM durable_operation WHERE state IN (1, 5) AND wake_at <= ?1 ORDER BY wake_at, id LIMIT ?2
        """,
        "nextWake":
            """
        SELECT min(wake_at) FROM durable_operation WHERE state IN (1, 5)
        """,
        "firstBlocked":
            """
        SELECT id FROM durable_operation WHERE queue = ?1 AND key = ?2 AND state = 2 ORDER BY epoch, priority \
        DESC, ready_at, id LIMIT ?3
        """,
        "lastReady":
            """
        SELECT id FROM durable_operation WHERE queue = ?1 AND key = ?2 AND state = 3 ORDER BY epoch DESC, \
        priority, ready_at DESC, id DESC LIMIT ?3
        """,
        "running":
            """
        SELECT id FROM durable_operation WHERE worker = ?1 AND state = 4
        """,
        "cancelRequests":
            """
        SELECT id FROM durable_operation WHERE worker = ?1 AND is_cancel_requested = 1 AND state = 4 ORDER BY id
        """,
        "purgeable":
            """
        SELECT id FROM durable_operation WHERE purge_at IS NOT NULL AND purge_at <= ?1 ORDER BY purge_at, id \
        LIMIT ?2
        """,
        "removeOperation":
            """
        DELETE FROM durable_operation WHERE id = ?1
        """,
        "removeInput":
            """
        DELETE FROM durable_input WHERE id = ?1
        """,
        "removeOutput":
            """
        DELETE FROM durable_output WHERE id = ?1
        """,
        "removeEdgesTo":
            """
        DELETE FROM durable_edge WHERE dependent = ?1
        """,
        "removeUniques":
            """
        DELETE FROM durable_unique WHERE operation = ?1
        """,
        "removeHistory":
            """
        DELETE FROM durable_history WHERE operation = ?1
        """,
        "removeSignals":
            """
        DELETE FROM durable_signal WHERE operation = ?1
        """,
        "insertQueue":
            """
        INSERT INTO durable_queue(name) VALUES (?1)
        """,
        "queueByName":
            """
        SELECT id, name, is_suspended, max_running, max_per_key, rate_count, rate_period, rate_filled_at, \
        current_epoch, last_epoch FROM durable_queue WHERE name = ?1
        """,
        "queueByID":
            """
        SELECT id, name, is_suspended, max_running, max_per_key, rate_count, rate_period, rate_filled_at, \
        current_epoch, last_epoch FROM durable_queue WHERE id = ?1
        """,
        "queues":
            """
        SELECT id, name, is_suspended, max_running, max_per_key, rate_count, rate_period, rate_filled_at, \
        current_epoch, last_epoch FROM durable_queue ORDER BY id
        """,
        "updateQueue":
            """
        UPDATE durable_queue SET is_suspended = ?2, max_running = ?3, max_per_key = ?4, rate_count = ?5, \
        rate_period = ?6, rate_filled_at = ?7, current_epoch = ?8, last_epoch = ?9 WHERE id = ?1
        """,
        "insertKind":
            """
        INSERT INTO durable_kind(name) VALUES (?1)
        """,
        "kindByName":
            """
        SELECT id FROM durable_kind WHERE name = ?1
        """,
        "kindByID":
            """
        SELECT name FROM durable_kind WHERE id = ?1
        """,
        "counters":
            """
        SELECT epoch, kind, state, count FROM durable_counter WHERE queue = ?1
        """,
        "addCounter":
            """
        INSERT INTO durable_counter(queue, epoch, kind, state, count) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT \
        (queue, epoch, kind, state) DO UPDATE SET count = count + excluded.count
        """,
        "removeCounter":
            """
        DELETE FROM durable_counter WHERE queue = ?1 AND epoch = ?2 AND kind = ?3 AND state = ?4 AND count = 0
        """,
        "key":
            """
        SELECT key, max_running, running, ready, blocked FROM durable_key WHERE queue = ?1 AND key = ?2
        """,
        "keys":
            """
        SELECT key, max_running, running, ready, blocked FROM durable_key WHERE queue = ?1 ORDER BY key
        """,
        "saveKey":
            """
        INSERT OR REPLACE INTO durable_key(queue, key, max_running, running, ready, blocked) VALUES (?1, ?2, ?3, \
        ?4, ?5, ?6)
        """,
        "removeKey":
            """
        DELETE FROM durable_key WHERE queue = ?1 AND key = ?2
        """,
        "unique":
            """
        SELECT operation, held_until FROM durable_unique WHERE kind = ?1 AND key = ?2
        """,
        "saveUnique":
            """
        INSERT OR REPLACE INTO durable_unique(kind, key, operation, held_until) VALUES (?1, ?2, ?3, ?4)
        """,
        "history":
            """
        SELECT position, kind, name, result FROM durable_history WHERE operation = ?1 ORDER BY position
        """,
        "insertHistory":
            """
        INSERT INTO durable_history(operation, position, kind, name, result) VALUES (?1, ?2, ?3, ?4, ?5)
        """,
        "signal":
            """
        SELECT number, payload FROM durable_signal WHERE operation = ?1 AND name = ?2 ORDER BY number LIMIT 1
        """,
        "lastSignal":
            """
        SELECT max(number) FROM durable_signal WHERE operation = ?1
        """,
        "insertSignal":
            """
        INSERT INTO durable_signal(operation, number, name, payload) VALUES (?1, ?2, ?3, ?4)
        """,
        "removeSignal":
            """
        DELETE FROM durable_signal WHERE operation = ?1 AND number = ?2
        """,
        "worker":
            """
        SELECT id, name, lease_end, kinds, queues FROM durable_worker WHERE id = ?1
        """,
        "workers":
            """
        SELECT id, name, lease_end, kinds, queues FROM durable_worker ORDER BY id
        """,
        "saveWorker":
            """
        INSERT OR REPLACE INTO durable_worker(id, name, lease_end, kinds, queues) VALUES (?1, ?2, ?3, ?4, ?5)
        """,
        "removeWorker":
            """
        DELETE FROM durable_worker WHERE id = ?1
        """,
        "schedule":
            """
        SELECT name, cron, missed, next_at, kind, queue, input, priority, retry, key, timeout FROM \
        durable_schedule WHERE name = ?1
        """,
        "schedules":
            """
        SELECT name, cron, missed, next_at, kind, queue, input, priority, retry, key, timeout FROM \
        durable_schedule ORDER BY name
        """,
        "dueSchedules":
            """
        SELECT name, cron, missed, next_at, kind, queue, input, priority, retry, key, timeout FROM \
        durable_schedule WHERE next_at <= ?1 ORDER BY name
        """,
        "nextSchedule":
            """
        SELECT min(next_at) FROM durable_schedule
        """,
        "saveSchedule":
            """
        INSERT OR REPLACE INTO durable_schedule(name, cron, missed, next_at, kind, queue, input, priority, retry, \
        key, timeout) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
        """,
        "removeSchedule":
            """
        DELETE FROM durable_schedule WHERE name = ?1
        """,
        "meta":
            """
        SELECT value FROM durable_meta WHERE name = ?1
        """,
        "setMeta":
            """
        UPDATE durable_meta SET value = ?2 WHERE name = ?1
        """,
    ]
}
