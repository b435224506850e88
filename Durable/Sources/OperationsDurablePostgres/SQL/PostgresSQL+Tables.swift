#if Postgres
import DurableCore

extension PostgresSQL {
    /// The next time of a schedule. Workers before schema 4 read the column `next_at` only.
    static let scheduleDue = "CASE WHEN next_at = 9223372036854775807 THEN coalesce(due_at, next_at) ELSE next_at END"

    /// The statements on all tables except operations and their payloads.
    var tableText: String? {
        switch self {
        case .insertQueue:
            "INSERT INTO @.durable_queue(id, name) SELECT coalesce(max(id), 0) + 1, $1::text FROM @.durable_queue"
        case .queueByName: "SELECT \(QueueRow.table.list) FROM @.durable_queue WHERE name = $1::text"
        case .queueByID: "SELECT \(QueueRow.table.list) FROM @.durable_queue WHERE id = $1::bigint"
        case .queuesByID: "SELECT \(QueueRow.table.list) FROM @.durable_queue WHERE id = ANY($1::bigint[])"
        case .queues: "SELECT \(QueueRow.table.list) FROM @.durable_queue ORDER BY id"
        case .updateQueues: QueueRow.table.update(.postgres)
        case .insertKind:
            "INSERT INTO @.durable_kind(id, name) SELECT coalesce(max(id), 0) + 1, $1::text FROM @.durable_kind RETURNING id"
        case .kindByName: "SELECT id FROM @.durable_kind WHERE name = $1::text"
        case .kindByID: "SELECT name FROM @.durable_kind WHERE id = $1::bigint"
        case .counters: "SELECT \(CounterRow.table.list) FROM @.durable_counter WHERE queue = $1::bigint"
        case .epochCounters:
            """
            SELECT \(CounterRow.table.list) FROM @.durable_counter WHERE queue = $1::bigint AND epoch = $2::bigint
            """
        case .firstEpoch: "SELECT min(epoch) FROM @.durable_counter WHERE queue = $1::bigint AND epoch >= $2::bigint"
        case .runningCount:
            "SELECT sum(count)::bigint FROM @.durable_counter WHERE queue = $1::bigint AND state = 4"
        case .addCounters:
            CounterRow.table.upsert(.postgres, changing: [("count", "durable_counter.count + excluded.count")])
        case .removeCounters:
            """
            DELETE FROM @.durable_counter USING \
            unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]) \
            AS old(queue, epoch, kind, state, change) \
            WHERE durable_counter.queue = old.queue AND durable_counter.epoch = old.epoch \
            AND durable_counter.kind = old.kind AND durable_counter.state = old.state AND count = 0
            """
        case .keysByName:
            """
            SELECT \(KeyRow.table.list) FROM unnest($1::bigint[], $2::text[]) AS wanted(of_queue, name) \
            JOIN @.durable_key ON queue = of_queue AND key = name
            """
        case .keys: "SELECT \(KeyRow.table.list) FROM @.durable_key WHERE queue = $1::bigint ORDER BY key"
        case .dueKeys:
            """
            SELECT queue, key FROM @.durable_key WHERE wake_at IS NOT NULL AND wake_at <= $1::bigint \
            ORDER BY wake_at, queue, key LIMIT $2::bigint
            """
        case .saveKeys: KeyRow.table.upsert(.postgres)
        case .removeKeys:
            """
            DELETE FROM @.durable_key USING unnest($1::bigint[], $2::text[]) AS old(queue, key) \
            WHERE durable_key.queue = old.queue AND durable_key.key = old.key
            """
        case .unique:
            "SELECT \(UniqueRow.table.list) FROM @.durable_unique WHERE kind = $1::bigint AND key = $2::text"
        case .uniquePeriods:
            """
            SELECT operation, max(held_until) FROM @.durable_unique WHERE operation = ANY($1::bigint[]) \
            AND held_until IS NOT NULL GROUP BY operation
            """
        case .saveUniques: UniqueRow.table.upsert(.postgres)
        case .history: "SELECT \(HistoryEntry.table.list) FROM @.durable_history WHERE operation = ANY($1::bigint[])"
        case .insertHistory:
            HistoryEntry.table.upsert(
                .postgres, changing: [("kind", "durable_history.kind"), ("name", "durable_history.name")])
        case .signal:
            """
            SELECT \(SignalRow.table.list) FROM @.durable_signal WHERE operation = $1::bigint AND name = $2::text \
            ORDER BY operation, number LIMIT 1
            """
        case .lastSignal: "SELECT max(number) FROM @.durable_signal WHERE operation = $1::bigint"
        case .insertSignals: SignalRow.table.insertion(.postgres)
        case .removeSignal:
            """
            DELETE FROM @.durable_signal USING unnest($1::bigint[], $2::bigint[]) AS old(operation, number) \
            WHERE durable_signal.operation = old.operation AND durable_signal.number = old.number
            """
        case .workers: "SELECT \(WorkerRow.table.list) FROM @.durable_worker ORDER BY id"
        case .worker: "SELECT \(WorkerRow.table.list) FROM @.durable_worker WHERE id = $1::bigint"
        // The lock makes the server look again after a heartbeat outside the transaction, also one that waited for a lock.
        case .expiredWorkers: "SELECT id FROM @.durable_worker WHERE lease_end < $1::bigint ORDER BY id FOR UPDATE"
        // A heartbeat outside the transaction may have renewed the lease.
        case .saveWorkers:
            WorkerRow.table.upsert(
                .postgres, changing: [("lease_end", "greatest(durable_worker.lease_end, excluded.lease_end)")])
        case .removeWorkers: "DELETE FROM @.durable_worker WHERE id = ANY($1::bigint[])"
        case .schedule: "SELECT \(ScheduleRow.table.list) FROM @.durable_schedule WHERE name = $1::text"
        case .schedules: "SELECT \(ScheduleRow.table.list) FROM @.durable_schedule ORDER BY name"
        case .dueSchedules:
            "SELECT \(ScheduleRow.table.list) FROM @.durable_schedule WHERE \(Self.scheduleDue) <= $1::bigint"
        case .saveSchedules: ScheduleRow.table.upsert(.postgres)
        case .removeSchedule: "DELETE FROM @.durable_schedule WHERE name = ANY($1::text[])"
        case .attempts:
            "SELECT \(AttemptRow.table.list) FROM @.durable_attempt WHERE operation = $1::bigint ORDER BY fence"
        case .saveAttempts: AttemptRow.table.upsert(.postgres)
        case .trimAttempts:
            """
            DELETE FROM @.durable_attempt USING unnest($1::bigint[], $2::bigint[]) AS kept(operation, count) \
            WHERE durable_attempt.operation = kept.operation AND fence <= (SELECT last.fence FROM @.durable_attempt last \
            WHERE last.operation = kept.operation ORDER BY last.fence DESC LIMIT 1 OFFSET kept.count)
            """
        case .events:
            "SELECT \(EventRow.table.list) FROM @.durable_event WHERE number > $1::bigint ORDER BY number LIMIT $2::bigint"
        case .insertEvents: EventRow.table.insertion(.postgres)
        case .removeEvents:
            """
            DELETE FROM @.durable_event WHERE number < (SELECT min(number) FROM @.durable_event) + $2::bigint \
            AND at < $1::bigint
            """
        case .number: "SELECT number FROM @.durable_meta WHERE name = $1::text"
        // The last row changes when a copy of the tables is restored, with other names of operations.
        case .numbers:
            """
            SELECT name, number FROM @.durable_meta WHERE number IS NOT NULL UNION ALL \
            SELECT 'kind_table', pg_relation_filenode(to_regclass(concat(@schema, '.durable_kind')))::bigint
            """
        case .setNumbers:
            """
            INSERT INTO @.durable_meta(name, number) SELECT * FROM unnest($1::text[], $2::bigint[]) \
            ON CONFLICT (name) DO UPDATE SET number = excluded.number
            """
        case .identity: "SELECT text FROM @.durable_meta WHERE name = 'store'"
        default: nil
        }
    }

    /// A text that changes with the definitions of the tables: their identities and kinds, and whether they have rules, triggers, parts
    /// and policies.
    private static let definitions = """
        (SELECT pg_catalog.sum(pg_catalog.hashtextextended(pg_catalog.concat(relname, ' ', oid, ' ', relkind, \
        relhassubclass, relhasrules, relhastriggers, relrowsecurity, relforcerowsecurity), 0))::pg_catalog.text \
        FROM pg_catalog.pg_class WHERE relnamespace OPERATOR(pg_catalog.=) pg_catalog.to_regnamespace(@schema)::pg_catalog.oid \
        AND relname OPERATOR(pg_catalog.=) ANY('{\(Table.names.joined(separator: ","))}'::pg_catalog.name[]))
        """

    /// The statements of sessions and transactions.
    var sessionText: String {
        switch self {
        case .migrationLock: "SELECT pg_advisory_xact_lock($1::bigint)"
        // The clock is read after the lock: the instants of transactions follow the order of the transactions. The second
        // column is 1 if another transaction held the lock, the third if all earlier commits are durable. The others show whether
        // the session and the tables are those of the store, and whether the schema permits this version of the library.
        case .lock:
            """
            WITH lock AS MATERIALIZED (SELECT CASE WHEN pg_try_advisory_xact_lock($1::bigint) THEN 0 \
            ELSE 1 + length(pg_advisory_xact_lock($1)::text) END AS was_held, \
            set_config('synchronous_commit', $2::text, true)) \
            SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, was_held::bigint, \
            (pg_current_wal_insert_lsn() <= pg_current_wal_flush_lsn())::int::bigint, \
            current_setting('\(PostgresSettings.marker)', true), \
            (SELECT text FROM @.durable_meta WHERE name = 'store'), \
            (SELECT number FROM @.durable_meta WHERE name = 'oldest_reader') FROM lock
            """
        case .now: "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
        // The second column is 1 if all commits that the snapshot contains are durable.
        case .snapshot:
            """
            SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, \
            (pg_current_wal_insert_lsn() <= pg_current_wal_flush_lsn())::int::bigint, \
            current_setting('\(PostgresSettings.marker)', true)
            """
        // The commit of a message flushes all earlier commits of the server.
        case .flush:
            """
            SELECT set_config('synchronous_commit', 'on', true), pg_logical_emit_message(true, 'durable', '')::text
            """
        case .notify: "SELECT pg_notify('durable_change', $1::text)"
        // `PostgresSettings` has the texts, which depend on the session.
        case .settle, .exchange: "SELECT"
        case .tables: "SELECT \(Self.definitions)"
        // Fails if the tables are those of another store, or have other definitions. The parameters are the identity of the store and
        // the result of `tables`. The other columns are the numbers of statements that the library and an application prepared.
        case .verify:
            """
            SELECT (CASE WHEN store.text OPERATOR(pg_catalog.<>) $1::pg_catalog.text OR store.text IS NULL \
            THEN pg_catalog.concat('the tables durable_ are those of another store', store.text) \
            WHEN $2::pg_catalog.text OPERATOR(pg_catalog.<>) \(Self.definitions) \
            THEN 'the statements change the tables of the store' ELSE '0' END)::pg_catalog.int8, \
            prepared.own, prepared.others FROM (SELECT pg_catalog.max(text) AS text FROM @.durable_meta \
            WHERE name OPERATOR(pg_catalog.=) 'store') AS store, \
            (SELECT pg_catalog.count(*) FILTER (WHERE NOT from_sql) AS own, \
            pg_catalog.count(*) FILTER (WHERE from_sql) AS others FROM pg_catalog.pg_prepared_statements) AS prepared
            """
        // The clock is read after a wait for the lock of the row.
        case .renewLease:
            """
            UPDATE @.durable_worker SET lease_end = greatest(lease_end, \
            (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + $2::bigint) WHERE id = $1::bigint RETURNING id
            """
        // The process that holds the lock of the writers, and the age of its transaction. An advisory lock of the server has two
        // halves of the key.
        case .lockHolder:
            """
            SELECT pid::bigint, coalesce(application_name, ''), coalesce(state, 'unknown'), \
            coalesce((extract(epoch FROM clock_timestamp() - xact_start) * 1000000)::bigint, 0) \
            FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND granted AND objsubid = 1 \
            AND classid::bigint = ($1::bigint >> 32) & 4294967295 AND objid::bigint = $1 & 4294967295 \
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) LIMIT 1
            """
        case .unlock: "SELECT pg_catalog.pg_advisory_unlock_all()"
        case .exists: "SELECT (to_regclass(concat(@schema, '.durable_meta')) IS NOT NULL)::int::bigint"
        default: preconditionFailure("the statement \(self) has no text")
        }
    }
}
#endif
