#if Postgres
/// The statements of a worker that uses version 1 of the schema in PostgreSQL. They never change.
///
/// Such a worker shares a database with workers of this version, so that all its statements must keep running.
enum PostgresVersion1 {
    static let statements = [
        "operations":
            """
        SELECT id, queue, kind, epoch, priority, state, ready_at, wake_at, pending, children, parent, \
        failure_policy, root_cause, key, worker, fence, failures, lost_leases, retry, timeout, deadline, \
        added_at, started_at, ended_at, purge_at, is_cancel_requested, history_count, signal, work_outcome, \
        reason FROM durable_operation WHERE id = ANY($1::bigint[])
        """,
        "insertOperations":
            """
        INSERT INTO durable_operation(id, queue, kind, epoch, priority, state, ready_at, wake_at, pending, \
        children, parent, failure_policy, root_cause, key, worker, fence, failures, lost_leases, retry, \
        timeout, deadline, added_at, started_at, ended_at, purge_at, is_cancel_requested, history_count, \
        signal, work_outcome, reason, input) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], \
        $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], \
        $11::bigint[], $12::bigint[], $13::bigint[], $14::text[], $15::bigint[], $16::bigint[], \
        $17::bigint[], $18::bigint[], $19::text[], $20::bigint[], $21::bigint[], $22::bigint[], \
        $23::bigint[], $24::bigint[], $25::bigint[], $26::bigint[], $27::bigint[], $28::text[], \
        $29::bigint[], $30::text[], $31::bytea[])
        """,
        "updateOperations":
            """
        UPDATE durable_operation SET queue = new.queue, kind = new.kind, epoch = new.epoch, priority = \
        new.priority, state = new.state, ready_at = new.ready_at, wake_at = new.wake_at, pending = \
        new.pending, children = new.children, parent = new.parent, failure_policy = new.failure_policy, \
        root_cause = new.root_cause, key = new.key, worker = new.worker, fence = new.fence, failures = \
        new.failures, lost_leases = new.lost_leases, retry = new.retry, timeout = new.timeout, deadline = \
        new.deadline, added_at = new.added_at, started_at = new.started_at, ended_at = new.ended_at, purge_at \
        = new.purge_at, is_cancel_requested = new.is_cancel_requested, history_count = new.history_count, \
        signal = new.signal, work_outcome = new.work_outcome, reason = new.reason FROM unnest($1::bigint[], \
        $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], \
        $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::text[], $15::bigint[], \
        $16::bigint[], $17::bigint[], $18::bigint[], $19::text[], $20::bigint[], $21::bigint[], \
        $22::bigint[], $23::bigint[], $24::bigint[], $25::bigint[], $26::bigint[], $27::bigint[], \
        $28::text[], $29::bigint[], $30::text[]) AS new(id, queue, kind, epoch, priority, state, ready_at, \
        wake_at, pending, children, parent, failure_policy, root_cause, key, worker, fence, failures, \
        lost_leases, retry, timeout, deadline, added_at, started_at, ended_at, purge_at, is_cancel_requested, \
        history_count, signal, work_outcome, reason) WHERE durable_operation.id = new.id
        """,
        "inputs":
            """
        SELECT durable_operation.id, coalesce(durable_operation.input, durable_input.data) FROM \
        durable_operation LEFT JOIN durable_input ON durable_input.id = durable_operation.id WHERE \
        durable_operation.id = ANY($1::bigint[])
        """,
        "insertInputs":
            """
        INSERT INTO durable_input(id, data) SELECT * FROM unnest($1::bigint[], $2::bytea[])
        """,
        "output":
            """
        SELECT data FROM durable_output WHERE id = $1::bigint
        """,
        "saveOutputs":
            """
        INSERT INTO durable_output(id, data) SELECT * FROM unnest($1::bigint[], $2::bytea[]) ON CONFLICT (id) \
        DO UPDATE SET data = excluded.data
        """,
        "removeEdges":
            """
        DELETE FROM durable_edge WHERE dependency = ANY($1::bigint[]) RETURNING dependency, dependent, \
        is_await
        """,
        "edgesTo":
            """
        SELECT dependency, dependent, is_await FROM durable_edge WHERE dependent = ANY($1::bigint[])
        """,
        "edgesFrom":
            """
        SELECT dependency, dependent, is_await FROM durable_edge WHERE dependency = ANY($1::bigint[])
        """,
        "insertEdges":
            """
        INSERT INTO durable_edge(dependency, dependent, is_await) SELECT * FROM unnest($1::bigint[], \
        $2::bigint[], $3::bigint[])
        """,
        "matching":
            """
        SELECT id FROM durable_operation WHERE id > $1::bigint AND ($2::bigint IS NULL OR state = $2) AND \
        ($3::bigint IS NULL OR queue = $3) AND ($4::bigint IS NULL OR kind = $4) ORDER BY id LIMIT $5::bigint
        """,
        "children":
            """
        SELECT id FROM durable_operation WHERE parent IS NOT NULL AND parent = ANY($1::bigint[]) AND state < \
        7
        """,
        "ready":
            """
        SELECT priority, ready_at, id FROM durable_operation WHERE queue = $1::bigint AND epoch = $2::bigint \
        AND kind = $3::bigint AND state = 3 ORDER BY priority DESC, ready_at, id LIMIT $4::bigint
        """,
        "due":
            """
        SELECT id FROM durable_operation WHERE state IN (1, 5) AND wake_at <= $1::bigint ORDER BY wake_at, id \
        LIMIT $2::bigint
        """,
        "nextWake":
            """
        SELECT least((SELECT min(wake_at) FROM durable_operation WHERE state IN (1, 5)), (SELECT min(next_at) \
        FROM durable_schedule))
        """,
        "firstBlocked":
            """
        SELECT id FROM durable_operation WHERE queue = $1::bigint AND key = $2::text AND state = 2 ORDER BY \
        epoch, priority DESC, ready_at, id LIMIT $3::bigint
        """,
        "lastReady":
            """
        SELECT id FROM durable_operation WHERE queue = $1::bigint AND key = $2::text AND state = 3 ORDER BY \
        epoch DESC, priority, ready_at DESC, id DESC LIMIT $3::bigint
        """,
        "running":
            """
        SELECT id FROM durable_operation WHERE worker = $1::bigint AND state = 4
        """,
        "cancelRequests":
            """
        SELECT id FROM durable_operation WHERE worker = $1::bigint AND is_cancel_requested = 1 AND state = 4
        """,
        "purgeable":
            """
        SELECT id FROM durable_operation WHERE purge_at IS NOT NULL AND purge_at <= $1::bigint ORDER BY \
        purge_at, id LIMIT $2::bigint
        """,
        "removeOperations":
            """
        DELETE FROM durable_operation WHERE id = ANY($1::bigint[])
        """,
        "removeInputs":
            """
        DELETE FROM durable_input WHERE id = ANY($1::bigint[])
        """,
        "removeOutputs":
            """
        DELETE FROM durable_output WHERE id = ANY($1::bigint[])
        """,
        "removeEdgesTo":
            """
        DELETE FROM durable_edge WHERE dependent = ANY($1::bigint[])
        """,
        "removeUniques":
            """
        DELETE FROM durable_unique WHERE operation = ANY($1::bigint[])
        """,
        "removeHistory":
            """
        DELETE FROM durable_history WHERE operation = ANY($1::bigint[])
        """,
        "removeSignals":
            """
        DELETE FROM durable_signal WHERE operation = ANY($1::bigint[])
        """,
        "insertQueue":
            """
        INSERT INTO durable_queue(id, name) SELECT coalesce(max(id), 0) + 1, $1::text FROM durable_queue
        """,
        "queueByName":
            """
        SELECT id, name, is_suspended, max_running, max_per_key, rate_count, rate_period, rate_filled_at, \
        current_epoch, last_epoch FROM durable_queue WHERE name = $1::text
        """,
        "queueByID":
            """
        SELECT id, name, is_suspended, max_running, max_per_key, rate_count, rate_period, rate_filled_at, \
        current_epoch, last_epoch FROM durable_queue WHERE id = $1::bigint
        """,
        "queues":
            """
        SELECT id, name, is_suspended, max_running, max_per_key, rate_count, rate_period, rate_filled_at, \
        current_epoch, last_epoch FROM durable_queue ORDER BY id
        """,
        "updateQueue":
            """
        UPDATE durable_queue SET is_suspended = $2, max_running = $3, max_per_key = $4, rate_count = $5, \
        rate_period = $6, rate_filled_at = $7, current_epoch = $8, last_epoch = $9 WHERE id = $1
        """,
        "insertKind":
            """
        INSERT INTO durable_kind(id, name) SELECT coalesce(max(id), 0) + 1, $1::text FROM durable_kind \
        RETURNING id
        """,
        "kindByName":
            """
        SELECT id FROM durable_kind WHERE name = $1::text
        """,
        "kindByID":
            """
        SELECT name FROM durable_kind WHERE id = $1::bigint
        """,
        "counters":
            """
        SELECT epoch, kind, state, count FROM durable_counter WHERE queue = $1::bigint
        """,
        "addCounters":
            """
        INSERT INTO durable_counter(queue, epoch, kind, state, count) SELECT * FROM unnest($1::bigint[], \
        $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]) ON CONFLICT (queue, epoch, kind, state) DO \
        UPDATE SET count = durable_counter.count + excluded.count
        """,
        "removeCounters":
            """
        DELETE FROM durable_counter USING unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) AS \
        old(queue, epoch, kind, state) WHERE durable_counter.queue = old.queue AND durable_counter.epoch = \
        old.epoch AND durable_counter.kind = old.kind AND durable_counter.state = old.state AND count = 0
        """,
        "key":
            """
        SELECT key, max_running, running, ready, blocked FROM durable_key WHERE queue = $1::bigint AND key = \
        $2::text
        """,
        "keys":
            """
        SELECT key, max_running, running, ready, blocked FROM durable_key WHERE queue = $1::bigint ORDER BY \
        key
        """,
        "saveKeys":
            """
        INSERT INTO durable_key(queue, key, max_running, running, ready, blocked) SELECT * FROM \
        unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[]) ON CONFLICT \
        (queue, key) DO UPDATE SET max_running = excluded.max_running, running = excluded.running, ready = \
        excluded.ready, blocked = excluded.blocked
        """,
        "removeKeys":
            """
        DELETE FROM durable_key USING unnest($1::bigint[], $2::text[]) AS old(queue, key) WHERE \
        durable_key.queue = old.queue AND durable_key.key = old.key
        """,
        "unique":
            """
        SELECT operation, held_until FROM durable_unique WHERE kind = $1::bigint AND key = $2::text
        """,
        "saveUniques":
            """
        INSERT INTO durable_unique(kind, key, operation, held_until) SELECT * FROM unnest($1::bigint[], \
        $2::text[], $3::bigint[], $4::bigint[]) ON CONFLICT (kind, key) DO UPDATE SET operation = \
        excluded.operation, held_until = excluded.held_until
        """,
        "history":
            """
        SELECT operation, position, kind, name, result FROM durable_history WHERE operation = \
        ANY($1::bigint[])
        """,
        "insertHistory":
            """
        INSERT INTO durable_history(operation, position, kind, name, result) SELECT * FROM \
        unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::bytea[])
        """,
        "signal":
            """
        SELECT number, payload FROM durable_signal WHERE operation = $1::bigint AND name = $2::text ORDER BY \
        operation, number LIMIT 1
        """,
        "lastSignal":
            """
        SELECT max(number) FROM durable_signal WHERE operation = $1::bigint
        """,
        "insertSignals":
            """
        INSERT INTO durable_signal(operation, number, name, payload) SELECT * FROM unnest($1::bigint[], \
        $2::bigint[], $3::text[], $4::bytea[])
        """,
        "removeSignal":
            """
        DELETE FROM durable_signal USING unnest($1::bigint[], $2::bigint[]) AS old(operation, number) WHERE \
        durable_signal.operation = old.operation AND durable_signal.number = old.number
        """,
        "worker":
            """
        SELECT id, name, lease_end, kinds, queues FROM durable_worker WHERE id = $1::bigint
        """,
        "workers":
            """
        SELECT id, name, lease_end, kinds, queues FROM durable_worker ORDER BY id
        """,
        "saveWorkers":
            """
        INSERT INTO durable_worker(id, name, lease_end, kinds, queues) SELECT * FROM unnest($1::bigint[], \
        $2::text[], $3::bigint[], $4::text[], $5::text[]) ON CONFLICT (id) DO UPDATE SET name = \
        excluded.name, lease_end = excluded.lease_end, kinds = excluded.kinds, queues = excluded.queues
        """,
        "removeWorkers":
            """
        DELETE FROM durable_worker WHERE id = ANY($1::bigint[])
        """,
        "schedule":
            """
        SELECT name, cron, missed, next_at, kind, queue, input, priority, retry, key, timeout FROM \
        durable_schedule WHERE name = $1::text
        """,
        "schedules":
            """
        SELECT name, cron, missed, next_at, kind, queue, input, priority, retry, key, timeout FROM \
        durable_schedule ORDER BY name
        """,
        "dueSchedules":
            """
        SELECT name, cron, missed, next_at, kind, queue, input, priority, retry, key, timeout FROM \
        durable_schedule WHERE next_at <= $1::bigint
        """,
        "saveSchedule":
            """
        INSERT INTO durable_schedule(name, cron, missed, next_at, kind, queue, input, priority, retry, key, \
        timeout) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT (name) DO UPDATE SET cron \
        = excluded.cron, missed = excluded.missed, next_at = excluded.next_at, kind = excluded.kind, queue = \
        excluded.queue, input = excluded.input, priority = excluded.priority, retry = excluded.retry, key = \
        excluded.key, timeout = excluded.timeout
        """,
        "removeSchedule":
            """
        DELETE FROM durable_schedule WHERE name = ANY($1::text[])
        """,
        "meta":
            """
        SELECT number FROM durable_meta WHERE name = $1::text
        """,
        "setMeta":
            """
        INSERT INTO durable_meta(name, number) SELECT * FROM unnest($1::text[], $2::bigint[]) ON CONFLICT \
        (name) DO UPDATE SET number = excluded.number
        """,
        "identity":
            """
        SELECT text FROM durable_meta WHERE name = 'store'
        """,
        "setting":
            """
        SELECT set_config($1::text, $2::text, false)
        """,
        "lockKey":
            """
        SELECT hashtextextended('swift-operations-durable ' || current_schema(), 0)
        """,
        "lock":
            """
        WITH lock AS MATERIALIZED (SELECT pg_advisory_xact_lock($1::bigint)) SELECT (extract(epoch FROM \
        clock_timestamp()) * 1000000)::bigint FROM lock
        """,
        "now":
            """
        SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
        """,
        "snapshot":
            """
        SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, (pg_current_wal_insert_lsn() <= \
        pg_current_wal_flush_lsn())::int::bigint
        """,
        "flush":
            """
        SELECT pg_logical_emit_message(true, 'durable', '')::text
        """,
        "notify":
            """
        SELECT pg_notify('durable_change', $1::text)
        """,
        "exists":
            """
        SELECT (to_regclass('durable_meta') IS NOT NULL)::int::bigint
        """,
    ]
}
#endif
