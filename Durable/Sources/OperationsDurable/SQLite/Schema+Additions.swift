extension Schema {
    /// The view by which any driver adds operations in its own transaction. Its triggers apply the rules of an addition.
    ///
    /// An operation that has a key, a barrier before it or a failed dependency is scheduled for now, and the next worker decides
    /// its state. The names of tables in a trigger are those of its database: temporary tables of a session do not take part.
    /// The conflict policy of a statement replaces those of the triggers, so that no insertion here has one.
    static let additions = """
        CREATE VIEW durable_add(
            queue, name, input, priority, "after", failure_policy, retries, retry, not_before, delay, unique_key, unique_period,
            unique_policy, limit_key, timeout, deadline, is_barrier, context) AS
            SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
            WHERE 0;
        CREATE VIEW durable_addition(
            id, kind, queue, moment, holder, unique_policy, priority, failure_policy, retry, wake_at, unique_key, held_until,
            limit_key, timeout, deadline, is_barrier, context, input, "after", pending, cause, reason) AS
            SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
            NULL, NULL, NULL, NULL WHERE 0;
        CREATE TRIGGER durable_add_check INSTEAD OF INSERT ON durable_add BEGIN
            SELECT RAISE(ABORT, 'durable_add: the encoding of the database is not UTF-8') WHERE length(CAST('a' AS BLOB)) <> 1;
            SELECT RAISE(ABORT, 'durable_add: a name or a key is missing, not a text, empty, longer than 200 bytes, or has a line end or a zero byte')
                WHERE NEW.queue IS NULL OR NEW.name IS NULL OR EXISTS (
                    SELECT 1 FROM (SELECT NEW.queue AS word UNION ALL SELECT NEW.name UNION ALL SELECT NEW.unique_key
                    UNION ALL SELECT NEW.limit_key) WHERE word IS NOT NULL AND (typeof(word) <> 'text'
                    OR length(CAST(word AS BLOB)) NOT BETWEEN 1 AND 200 OR instr(CAST(word AS BLOB), x'0A') > 0
                    OR instr(CAST(word AS BLOB), x'00') > 0));
            SELECT RAISE(ABORT, 'durable_add: the input is not JSON, or has more than 1 MiB')
                WHERE NEW.input IS NOT NULL AND (NOT coalesce(json_valid(CAST(NEW.input AS TEXT)), 0)
                OR length(CAST(NEW.input AS BLOB)) > 1048576 OR instr(CAST(NEW.input AS BLOB), x'00') > 0);
            SELECT RAISE(ABORT, 'durable_add: the priority is none of -8, -4, 0, 4, 8')
                WHERE CAST(coalesce(NEW.priority, 0) AS TEXT) NOT IN ('-8', '-4', '0', '4', '8');
            SELECT RAISE(ABORT, 'durable_add: the failure policy is none of runAnyway, cancel, fail')
                WHERE coalesce(NEW.failure_policy, 'runAnyway') NOT IN ('runAnyway', 'cancel', 'fail');
            SELECT RAISE(ABORT, 'durable_add: the unique policy is none of keep, replace, reject')
                WHERE coalesce(NEW.unique_policy, 'keep') NOT IN ('keep', 'replace', 'reject');
            SELECT RAISE(ABORT, 'durable_add: is_barrier is neither 0 nor 1')
                WHERE CAST(coalesce(NEW.is_barrier, 0) AS TEXT) NOT IN ('0', '1');
            SELECT RAISE(ABORT, 'durable_add: the number of retries is no number from 0 to 1000000000')
                WHERE NEW.retries IS NOT NULL AND (CAST(NEW.retries AS TEXT) <> CAST(CAST(NEW.retries AS INTEGER) AS TEXT)
                OR CAST(NEW.retries AS INTEGER) NOT BETWEEN 0 AND 1000000000);
            SELECT RAISE(ABORT, 'durable_add: the retry rule is invalid') WHERE NEW.retry IS NOT NULL
                AND (typeof(NEW.retry) <> 'text' OR NEW.retry GLOB '*[^0-9,]*'
                OR NOT coalesce(json_valid('[' || NEW.retry || ']'), 0)
                OR (SELECT count(*) <> 5 OR max(typeof(value) <> 'integer') OR sum(key = 4 AND value > 100)
                    OR sum(key = 1 AND value BETWEEN 2 AND 99) FROM json_each('[' || NEW.retry || ']')));
            SELECT RAISE(ABORT, 'durable_add: a time is no number of seconds in its range')
                FROM (SELECT NEW.not_before AS seconds, -9e12 AS least UNION ALL SELECT NEW.delay, -9e12
                UNION ALL SELECT NEW.unique_period, 1e-6 UNION ALL SELECT NEW.timeout, 1e-6 UNION ALL SELECT NEW.deadline, 1e-6)
                WHERE seconds IS NOT NULL AND (CAST(seconds AS TEXT) GLOB '*[^-+.eE0-9]*' OR CAST(seconds AS TEXT) = ''
                OR CAST(seconds AS REAL) NOT BETWEEN least AND 9e12);
            SELECT RAISE(ABORT, 'durable_add: the context is no text of at most 4096 bytes')
                WHERE NEW.context IS NOT NULL AND (typeof(NEW.context) <> 'text' OR length(CAST(NEW.context AS BLOB)) > 4096);
            SELECT RAISE(ABORT, 'durable_add: the dependencies are no JSON array of identifiers') WHERE NEW."after" IS NOT NULL
                AND (NOT coalesce(json_valid(NEW."after"), 0) OR json_type(NEW."after") <> 'array'
                OR EXISTS (SELECT 1 FROM json_each(NEW."after") WHERE type <> 'integer' OR typeof(value) <> 'integer'));
            SELECT RAISE(ABORT, 'durable_add: a dependency does not exist') WHERE EXISTS (
                SELECT 1 FROM json_each(coalesce(NEW."after", '[]')) AS item
                WHERE NOT EXISTS (SELECT 1 FROM durable_operation WHERE id = item.value));
            INSERT INTO durable_kind(name) SELECT NEW.name WHERE NOT EXISTS (SELECT 1 FROM durable_kind WHERE name = NEW.name);
            INSERT INTO durable_queue(name) SELECT NEW.queue WHERE NOT EXISTS (SELECT 1 FROM durable_queue WHERE name = NEW.queue);
            INSERT INTO durable_addition SELECT
                (SELECT value FROM durable_meta WHERE name = 'next_operation'), kind, queue, moment,
                (SELECT durable_operation.id FROM durable_unique JOIN durable_operation ON durable_operation.id = operation
                    WHERE durable_unique.kind = known.kind AND durable_unique.key = NEW.unique_key
                    AND (state < 7 OR held_until > moment)),
                coalesce(NEW.unique_policy, 'keep'), CAST(coalesce(NEW.priority, 0) AS INTEGER), policy,
                coalesce(NEW.retry, nullif(CAST(NEW.retries AS INTEGER), 0) || ',200,100000,60000000,100'),
                coalesce(CAST(round(NEW.not_before * 1e6) AS INTEGER), moment + CAST(round(NEW.delay * 1e6) AS INTEGER)),
                NEW.unique_key, moment + CAST(round(NEW.unique_period * 1e6) AS INTEGER), NEW.limit_key,
                CAST(round(NEW.timeout * 1e6) AS INTEGER), moment + CAST(round(NEW.deadline * 1e6) AS INTEGER),
                CAST(coalesce(NEW.is_barrier, 0) AS INTEGER), NEW.context, CAST(coalesce(NEW.input, '{}') AS BLOB),
                coalesce(NEW."after", '[]'),
                (SELECT count(DISTINCT item.value) FROM json_each(coalesce(NEW."after", '[]')) AS item
                    JOIN durable_operation AS known_operation ON known_operation.id = item.value WHERE state < 7),
                (SELECT coalesce(root_cause, known_operation.id) FROM json_each(coalesce(NEW."after", '[]')) AS item
                    JOIN durable_operation AS known_operation ON known_operation.id = item.value WHERE state > 7 AND policy > 0 ORDER BY item.key LIMIT 1),
                (SELECT CASE WHEN root_cause IS NULL THEN 'operation ' || known_operation.id || ' ended as '
                    || CASE state WHEN 8 THEN 'failed' WHEN 9 THEN 'cancelled' WHEN 10 THEN 'discarded' ELSE 'crashed' END
                    || coalesce(': ' || reason, '') ELSE reason END
                    FROM json_each(coalesce(NEW."after", '[]')) AS item
                    JOIN durable_operation AS known_operation ON known_operation.id = item.value WHERE state > 7 AND policy > 0 ORDER BY item.key LIMIT 1)
                FROM (SELECT (SELECT id FROM durable_kind WHERE name = NEW.name) AS kind,
                    (SELECT id FROM durable_queue WHERE name = NEW.queue) AS queue,
                    CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER) AS moment,
                    CASE NEW.failure_policy WHEN 'cancel' THEN 1 WHEN 'fail' THEN 2 ELSE 0 END AS policy) AS known;
        END;
        CREATE TRIGGER durable_addition_new INSTEAD OF INSERT ON durable_addition WHEN NEW.holder IS NULL BEGIN
            UPDATE durable_meta SET value = NEW.id + 1 WHERE name = 'next_operation';
            UPDATE durable_meta SET value = NEW.id WHERE name = 'last_addition';
            UPDATE durable_queue SET last_epoch = last_epoch + 2 WHERE id = NEW.queue AND NEW.is_barrier;
            INSERT INTO durable_operation(
                id, queue, kind, epoch, priority, state, ready_at, wake_at, pending, children, failure_policy, root_cause, key,
                fence, failures, lost_leases, retry, timeout, deadline, added_at, is_cancel_requested, history_count, reason,
                context, input)
                SELECT NEW.id, NEW.queue, NEW.kind, last_epoch - NEW.is_barrier, NEW.priority,
                CASE WHEN NEW.pending > 0 THEN 0 WHEN NEW.wake_at > NEW.moment OR NEW.limit_key IS NOT NULL
                    OR NEW.cause IS NOT NULL OR current_epoch < last_epoch THEN 1 ELSE 3 END,
                NEW.moment, CASE WHEN NEW.pending > 0 THEN NEW.wake_at WHEN NEW.cause IS NOT NULL THEN NEW.moment
                    WHEN NEW.wake_at > NEW.moment THEN NEW.wake_at
                    WHEN NEW.limit_key IS NOT NULL OR current_epoch < last_epoch THEN NEW.moment END,
                NEW.pending, 0, NEW.failure_policy, NEW.cause, NEW.limit_key, 0, 0, 0, NEW.retry, NEW.timeout, NEW.deadline,
                NEW.moment, 0, 0, NEW.reason, NEW.context, CASE WHEN length(NEW.input) <= 512 THEN NEW.input END
                FROM durable_queue WHERE id = NEW.queue;
            INSERT INTO durable_input(id, data) SELECT NEW.id, NEW.input WHERE length(NEW.input) > 512;
            INSERT INTO durable_edge(dependency, dependent, is_await)
                SELECT DISTINCT item.value, NEW.id, 0 FROM json_each(NEW."after") AS item
                JOIN durable_operation ON durable_operation.id = item.value WHERE state < 7;
            INSERT INTO durable_unique(kind, key, operation, held_until)
                SELECT NEW.kind, NEW.unique_key, NEW.id, NEW.held_until WHERE NEW.unique_key IS NOT NULL
                ON CONFLICT (kind, key) DO UPDATE SET operation = excluded.operation, held_until = excluded.held_until;
            INSERT INTO durable_change(operation, moment) VALUES (NEW.id, NEW.moment);
            UPDATE durable_queue SET current_epoch = (SELECT min(epoch) FROM durable_counter
                WHERE durable_counter.queue = durable_queue.id AND epoch >= current_epoch)
                WHERE id = NEW.queue AND current_epoch < last_epoch;
        END;
        CREATE TRIGGER durable_addition_held INSTEAD OF INSERT ON durable_addition WHEN NEW.holder IS NOT NULL BEGIN
            SELECT RAISE(ABORT, 'durable_add: an operation holds the unique key') WHERE NEW.unique_policy = 'reject';
            UPDATE durable_meta SET value = NEW.holder WHERE name = 'last_addition';
            INSERT INTO durable_replacement SELECT NEW.holder, state, NEW.moment,
                CASE WHEN state IN (2, 3) AND NEW.wake_at > NEW.moment THEN 1 ELSE state END,
                NEW.wake_at, NEW.priority, NEW.retry, NEW.timeout, NEW.deadline, NEW.context, NEW.input
                FROM durable_operation WHERE id = NEW.holder AND NEW.unique_policy = 'replace' AND fence = 0 AND state < 7;
        END;
        CREATE VIEW durable_replacement(
            id, old_state, moment, state, wake_at, priority, retry, timeout, deadline, context, input) AS
            SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE 0;
        CREATE TRIGGER durable_replacement_new INSTEAD OF INSERT ON durable_replacement BEGIN
            UPDATE durable_counter SET count = count - 1 WHERE NEW.state <> NEW.old_state AND (queue, epoch, kind, state) =
                (SELECT queue, epoch, kind, state FROM durable_operation WHERE id = NEW.id);
            DELETE FROM durable_counter WHERE count = 0 AND (queue, epoch, kind, state) =
                (SELECT queue, epoch, kind, state FROM durable_operation WHERE id = NEW.id);
            UPDATE durable_key SET ready = ready - (NEW.old_state = 3 AND NEW.state = 1),
                blocked = blocked - (NEW.old_state = 2 AND NEW.state = 1), wake_at = NEW.moment
                WHERE NEW.old_state IN (2, 3) AND (queue, key) = (SELECT queue, key FROM durable_operation WHERE id = NEW.id);
            UPDATE durable_operation SET priority = NEW.priority, retry = NEW.retry, timeout = NEW.timeout,
                deadline = NEW.deadline, context = NEW.context, state = NEW.state,
                wake_at = CASE NEW.state WHEN 0 THEN NEW.wake_at WHEN 1 THEN coalesce(NEW.wake_at, NEW.moment) END,
                input = CASE WHEN length(NEW.input) <= 512 THEN NEW.input END WHERE id = NEW.id;
            DELETE FROM durable_input WHERE id = NEW.id;
            INSERT INTO durable_input(id, data) SELECT NEW.id, NEW.input WHERE length(NEW.input) > 512;
            INSERT INTO durable_change(operation, moment) SELECT NEW.id, NEW.moment WHERE NEW.state <> NEW.old_state;
        END;
        CREATE VIEW durable_change(operation, moment) AS SELECT NULL, NULL WHERE 0;
        CREATE TRIGGER durable_change_new INSTEAD OF INSERT ON durable_change BEGIN
            INSERT INTO durable_counter(queue, epoch, kind, state, count)
                SELECT queue, epoch, kind, state, 1 FROM durable_operation WHERE id = NEW.operation
                ON CONFLICT (queue, epoch, kind, state) DO UPDATE SET count = count + 1;
            INSERT INTO durable_event(number, operation, queue, kind, state, fence, at, reason)
                SELECT (SELECT value FROM durable_meta WHERE name = 'next_event'), id, queue, kind, state, fence, NEW.moment, reason
                FROM durable_operation WHERE id = NEW.operation
                AND (SELECT value FROM durable_meta WHERE name = 'observed_until') >= NEW.moment;
            UPDATE durable_meta SET value = value + 1 WHERE name = 'next_event'
                AND (SELECT value FROM durable_meta WHERE name = 'observed_until') >= NEW.moment;
        END;
        INSERT INTO durable_meta(name, value) VALUES ('last_addition', 0);
        """
}
