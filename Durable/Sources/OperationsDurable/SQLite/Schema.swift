/// The versioned schema of a store in SQLite. Each migration runs once, under the write lock of the database.
enum Schema {
    /// The version that this library reads and writes.
    static let version = migrations.count

    /// The migrations, in order. A published migration never changes.
    static let migrations: [String] = [
        """
        CREATE TABLE durable_meta(name TEXT PRIMARY KEY NOT NULL, value NOT NULL) WITHOUT ROWID;
        INSERT INTO durable_meta VALUES ('next_operation', 1), ('next_worker', 1), ('store', lower(hex(randomblob(8))));
        CREATE TABLE durable_queue(
            id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, is_suspended INTEGER NOT NULL DEFAULT 0,
            max_running INTEGER, max_per_key INTEGER, rate_count INTEGER, rate_period INTEGER, rate_filled_at INTEGER,
            current_epoch INTEGER NOT NULL DEFAULT 0, last_epoch INTEGER NOT NULL DEFAULT 0);
        CREATE TABLE durable_kind(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
        CREATE TABLE durable_operation(
            id INTEGER PRIMARY KEY, queue INTEGER NOT NULL, kind INTEGER NOT NULL, epoch INTEGER NOT NULL,
            priority INTEGER NOT NULL, state INTEGER NOT NULL, ready_at INTEGER NOT NULL, wake_at INTEGER,
            pending INTEGER NOT NULL, children INTEGER NOT NULL, parent INTEGER, failure_policy INTEGER NOT NULL,
            root_cause INTEGER, key TEXT, worker INTEGER, fence INTEGER NOT NULL, failures INTEGER NOT NULL,
            lost_leases INTEGER NOT NULL, retry TEXT, timeout INTEGER, deadline INTEGER, added_at INTEGER NOT NULL,
            started_at INTEGER, ended_at INTEGER, purge_at INTEGER, is_cancel_requested INTEGER NOT NULL,
            history_count INTEGER NOT NULL, signal TEXT, work_outcome INTEGER, reason TEXT, input BLOB);
        CREATE INDEX durable_ready ON durable_operation(queue, epoch, kind, priority DESC, ready_at, id) WHERE state = 3;
        CREATE INDEX durable_wake ON durable_operation(wake_at, id) WHERE state IN (1, 5);
        CREATE INDEX durable_key_ready ON durable_operation(queue, key, epoch, priority DESC, ready_at, id)
            WHERE key IS NOT NULL AND state = 3;
        CREATE INDEX durable_key_blocked ON durable_operation(queue, key, epoch, priority DESC, ready_at, id)
            WHERE key IS NOT NULL AND state = 2;
        CREATE INDEX durable_running ON durable_operation(worker, is_cancel_requested) WHERE state = 4;
        CREATE INDEX durable_children ON durable_operation(parent) WHERE parent IS NOT NULL AND state < 7;
        CREATE INDEX durable_purge ON durable_operation(purge_at, id) WHERE purge_at IS NOT NULL;
        CREATE TABLE durable_input(id INTEGER PRIMARY KEY, data BLOB NOT NULL);
        CREATE TABLE durable_output(id INTEGER PRIMARY KEY, data BLOB NOT NULL);
        CREATE TABLE durable_edge(
            dependency INTEGER NOT NULL, dependent INTEGER NOT NULL, is_await INTEGER NOT NULL,
            PRIMARY KEY (dependency, dependent)) WITHOUT ROWID;
        CREATE INDEX durable_edge_dependent ON durable_edge(dependent);
        CREATE TABLE durable_counter(
            queue INTEGER NOT NULL, epoch INTEGER NOT NULL, kind INTEGER NOT NULL, state INTEGER NOT NULL,
            count INTEGER NOT NULL, PRIMARY KEY (queue, epoch, kind, state)) WITHOUT ROWID;
        CREATE TABLE durable_key(
            queue INTEGER NOT NULL, key TEXT NOT NULL, max_running INTEGER, running INTEGER NOT NULL,
            ready INTEGER NOT NULL, blocked INTEGER NOT NULL, PRIMARY KEY (queue, key)) WITHOUT ROWID;
        CREATE TABLE durable_unique(
            kind INTEGER NOT NULL, key TEXT NOT NULL, operation INTEGER NOT NULL, held_until INTEGER,
            PRIMARY KEY (kind, key)) WITHOUT ROWID;
        CREATE INDEX durable_unique_operation ON durable_unique(operation);
        CREATE TABLE durable_history(
            operation INTEGER NOT NULL, position INTEGER NOT NULL, kind INTEGER NOT NULL, name TEXT NOT NULL,
            result BLOB, PRIMARY KEY (operation, position)) WITHOUT ROWID;
        CREATE TABLE durable_signal(
            operation INTEGER NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL, payload BLOB NOT NULL,
            PRIMARY KEY (operation, number)) WITHOUT ROWID;
        CREATE TABLE durable_worker(
            id INTEGER PRIMARY KEY, name TEXT NOT NULL, lease_end INTEGER NOT NULL, kinds TEXT NOT NULL,
            queues TEXT NOT NULL);
        CREATE TABLE durable_schedule(
            name TEXT PRIMARY KEY NOT NULL, cron TEXT NOT NULL, missed INTEGER NOT NULL, next_at INTEGER NOT NULL,
            kind TEXT NOT NULL, queue TEXT NOT NULL, input BLOB NOT NULL, priority INTEGER NOT NULL, retry TEXT,
            key TEXT, timeout INTEGER) WITHOUT ROWID;
        CREATE INDEX durable_schedule_next ON durable_schedule(next_at);
        """,
        // A worker of version 1 ignores the new columns and tables, and keeps working. It forgets the rates of keys.
        """
        INSERT INTO durable_meta VALUES ('oldest_reader', 1), ('next_event', 1), ('observed_until', 0);
        ALTER TABLE durable_operation ADD COLUMN context TEXT;
        CREATE INDEX durable_deadline ON durable_operation(deadline, id)
            WHERE deadline IS NOT NULL AND state IN (0, 1, 2, 3, 5);
        ALTER TABLE durable_queue ADD COLUMN key_rate_count INTEGER;
        ALTER TABLE durable_queue ADD COLUMN key_rate_period INTEGER;
        ALTER TABLE durable_key ADD COLUMN rate_count INTEGER;
        ALTER TABLE durable_key ADD COLUMN rate_period INTEGER;
        ALTER TABLE durable_key ADD COLUMN rate_filled_at INTEGER;
        ALTER TABLE durable_key ADD COLUMN wake_at INTEGER;
        CREATE INDEX durable_key_wake ON durable_key(wake_at, queue, key) WHERE wake_at IS NOT NULL;
        CREATE TABLE durable_attempt(
            operation INTEGER NOT NULL, fence INTEGER NOT NULL, worker TEXT NOT NULL, started_at INTEGER NOT NULL,
            ended_at INTEGER NOT NULL, outcome INTEGER NOT NULL, reason TEXT NOT NULL,
            PRIMARY KEY (operation, fence)) WITHOUT ROWID;
        CREATE TABLE durable_event(
            number INTEGER PRIMARY KEY, operation INTEGER NOT NULL, queue INTEGER NOT NULL, kind INTEGER NOT NULL,
            state INTEGER NOT NULL, fence INTEGER NOT NULL, at INTEGER NOT NULL, reason TEXT);
        """,
        // A worker of version 2 misreads errors that an operation caught, so that it does not open the file any more.
        """
        UPDATE durable_meta SET value = 3 WHERE name = 'oldest_reader';
        CREATE INDEX durable_waiting ON durable_operation(queue, epoch) WHERE state < 7 AND (state = 0 OR children > 0);
        CREATE INDEX durable_counter_running ON durable_counter(queue) WHERE state = 4;
        """,
        // A worker of version 3 ignores the new columns, and keeps working. It runs suspects beside other operations, and ignores
        // schedules whose next time is in the new column.
        """
        ALTER TABLE durable_operation ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE durable_operation ADD COLUMN death INTEGER;
        CREATE INDEX durable_suspect ON durable_operation(id) WHERE crashes > 0 AND state < 7;
        ALTER TABLE durable_worker ADD COLUMN process TEXT;
        ALTER TABLE durable_worker ADD COLUMN isolates INTEGER;
        ALTER TABLE durable_schedule ADD COLUMN due_at INTEGER;
        ALTER TABLE durable_schedule ADD COLUMN overlap INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE durable_schedule ADD COLUMN last INTEGER;
        """,
        // A worker of version 4 ignores the views, and keeps working. It starts an operation that a view added, and of which a
        // dependency had failed.
        additions,
    ]
}
