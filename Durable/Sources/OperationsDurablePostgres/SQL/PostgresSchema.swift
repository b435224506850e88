#if Postgres
/// The versioned schema of a store in PostgreSQL. Each migration runs once, under a lock.
///
/// The versions are those of the schema in SQLite.
enum PostgresSchema {
    /// The version that this library reads and writes.
    static let version = migrations.count

    /// The migrations, in order. A published migration never changes.
    static let migrations: [StaticString] = [
        """
        CREATE TABLE durable_meta(name text COLLATE "C" PRIMARY KEY, number bigint, text text) WITH (fillfactor = 50);
        INSERT INTO durable_meta(name, number) VALUES ('next_operation', 1), ('next_worker', 1);
        INSERT INTO durable_meta(name, text) VALUES ('store', replace(gen_random_uuid()::text, '-', ''));
        CREATE TABLE durable_queue(
            id bigint PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE, is_suspended bigint NOT NULL DEFAULT 0,
            max_running bigint, max_per_key bigint, rate_count bigint, rate_period bigint, rate_filled_at bigint,
            current_epoch bigint NOT NULL DEFAULT 0, last_epoch bigint NOT NULL DEFAULT 0) WITH (fillfactor = 50);
        CREATE TABLE durable_kind(id bigint PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE);
        CREATE TABLE durable_operation(
            id bigint PRIMARY KEY, queue bigint NOT NULL, kind bigint NOT NULL, epoch bigint NOT NULL,
            priority bigint NOT NULL, state bigint NOT NULL, ready_at bigint NOT NULL, wake_at bigint,
            pending bigint NOT NULL, children bigint NOT NULL, parent bigint, failure_policy bigint NOT NULL,
            root_cause bigint, key text COLLATE "C", worker bigint, fence bigint NOT NULL, failures bigint NOT NULL,
            lost_leases bigint NOT NULL, retry text, timeout bigint, deadline bigint, added_at bigint NOT NULL,
            started_at bigint, ended_at bigint, purge_at bigint, is_cancel_requested bigint NOT NULL,
            history_count bigint NOT NULL, signal text, work_outcome bigint, reason text, input bytea)
            WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
        CREATE INDEX durable_ready ON durable_operation(queue, epoch, kind, priority DESC, ready_at, id)
            WHERE state = 3;
        CREATE INDEX durable_wake ON durable_operation(wake_at, id) WHERE state IN (1, 5);
        CREATE INDEX durable_key_ready ON durable_operation(queue, key, epoch, priority DESC, ready_at, id)
            WHERE key IS NOT NULL AND state = 3;
        CREATE INDEX durable_key_blocked ON durable_operation(queue, key, epoch, priority DESC, ready_at, id)
            WHERE key IS NOT NULL AND state = 2;
        CREATE INDEX durable_running ON durable_operation(worker, is_cancel_requested) WHERE state = 4;
        CREATE INDEX durable_children ON durable_operation(parent) WHERE parent IS NOT NULL AND state < 7;
        CREATE INDEX durable_purge ON durable_operation(purge_at, id) WHERE purge_at IS NOT NULL;
        CREATE TABLE durable_input(id bigint PRIMARY KEY, data bytea NOT NULL);
        CREATE TABLE durable_output(id bigint PRIMARY KEY, data bytea NOT NULL);
        CREATE TABLE durable_edge(
            dependency bigint NOT NULL, dependent bigint NOT NULL, is_await bigint NOT NULL,
            PRIMARY KEY (dependency, dependent));
        CREATE INDEX durable_edge_dependent ON durable_edge(dependent);
        CREATE TABLE durable_counter(
            queue bigint NOT NULL, epoch bigint NOT NULL, kind bigint NOT NULL, state bigint NOT NULL,
            count bigint NOT NULL, PRIMARY KEY (queue, epoch, kind, state)) WITH (fillfactor = 50);
        CREATE TABLE durable_key(
            queue bigint NOT NULL, key text COLLATE "C" NOT NULL, max_running bigint, running bigint NOT NULL,
            ready bigint NOT NULL, blocked bigint NOT NULL, PRIMARY KEY (queue, key)) WITH (fillfactor = 50);
        CREATE TABLE durable_unique(
            kind bigint NOT NULL, key text COLLATE "C" NOT NULL, operation bigint NOT NULL, held_until bigint,
            PRIMARY KEY (kind, key));
        CREATE INDEX durable_unique_operation ON durable_unique(operation);
        CREATE TABLE durable_history(
            operation bigint NOT NULL, position bigint NOT NULL, kind bigint NOT NULL, name text NOT NULL,
            result bytea, PRIMARY KEY (operation, position));
        CREATE TABLE durable_signal(
            operation bigint NOT NULL, number bigint NOT NULL, name text COLLATE "C" NOT NULL, payload bytea NOT NULL,
            PRIMARY KEY (operation, number));
        CREATE TABLE durable_worker(
            id bigint PRIMARY KEY, name text NOT NULL, lease_end bigint NOT NULL, kinds text NOT NULL,
            queues text NOT NULL) WITH (fillfactor = 50);
        CREATE TABLE durable_schedule(
            name text COLLATE "C" PRIMARY KEY, cron text NOT NULL, missed bigint NOT NULL, next_at bigint NOT NULL,
            kind text NOT NULL, queue text NOT NULL, input bytea NOT NULL, priority bigint NOT NULL, retry text,
            key text, timeout bigint);
        CREATE INDEX durable_schedule_next ON durable_schedule(next_at);
        """,
        // A worker of version 1 ignores the new columns and tables, and keeps working.
        """
        INSERT INTO durable_meta(name, number) VALUES ('oldest_reader', 1), ('next_event', 1), ('observed_until', 0);
        ALTER TABLE durable_operation ADD COLUMN context text;
        CREATE INDEX durable_deadline ON durable_operation(deadline, id)
            WHERE deadline IS NOT NULL AND state IN (0, 1, 2, 3, 5);
        ALTER TABLE durable_queue ADD COLUMN key_rate_count bigint, ADD COLUMN key_rate_period bigint;
        ALTER TABLE durable_key ADD COLUMN rate_count bigint, ADD COLUMN rate_period bigint,
            ADD COLUMN rate_filled_at bigint, ADD COLUMN wake_at bigint;
        CREATE INDEX durable_key_wake ON durable_key(wake_at, queue, key) WHERE wake_at IS NOT NULL;
        CREATE TABLE durable_attempt(
            operation bigint NOT NULL, fence bigint NOT NULL, worker text NOT NULL, started_at bigint NOT NULL,
            ended_at bigint NOT NULL, outcome bigint NOT NULL, reason text NOT NULL, PRIMARY KEY (operation, fence));
        CREATE TABLE durable_event(
            number bigint PRIMARY KEY, operation bigint NOT NULL, queue bigint NOT NULL, kind bigint NOT NULL,
            state bigint NOT NULL, fence bigint NOT NULL, at bigint NOT NULL, reason text);
        """,
        // A worker of version 2 misreads errors that an operation caught, so that it does not open the database any more.
        """
        UPDATE durable_meta SET number = 3 WHERE name = 'oldest_reader';
        CREATE INDEX durable_waiting ON durable_operation(queue, epoch) WHERE state < 7 AND (state = 0 OR children > 0);
        CREATE INDEX durable_counter_running ON durable_counter(queue) WHERE state = 4;
        """,
        // A worker of version 3 ignores the new columns, and keeps working. It runs suspects beside other operations, and ignores
        // schedules whose next time is in the new column.
        """
        ALTER TABLE durable_operation ADD COLUMN crashes bigint NOT NULL DEFAULT 0, ADD COLUMN death bigint;
        CREATE INDEX durable_suspect ON durable_operation(id) WHERE crashes > 0 AND state < 7;
        ALTER TABLE durable_worker ADD COLUMN process text, ADD COLUMN isolates bigint;
        ALTER TABLE durable_schedule ADD COLUMN due_at bigint, ADD COLUMN overlap bigint NOT NULL DEFAULT 0,
            ADD COLUMN last bigint;
        """,
        // A worker of version 4 ignores the function, and keeps working. It starts an operation that the function added, and of
        // which a dependency had failed.
        additions,
    ]
}
#endif
