#if Postgres
extension PostgresSchema {
    /// The function by which any driver adds operations in its own transaction, under the rules of an addition.
    ///
    /// An operation that has a key, a barrier before it or a failed dependency is scheduled for now, and the next worker decides
    /// its state. The function names the schema of its tables, because functions of the schema could be better matches than those of the
    /// server. A renamed schema makes the function lead to other tables, which the identity of the store excludes.
    static let additions: StaticString = """
        DO $migration$ BEGIN EXECUTE replace(replace(replace($text$
        CREATE FUNCTION durable_add(
            queue text, name text, input json DEFAULT NULL, priority bigint DEFAULT NULL, after bigint[] DEFAULT NULL,
            failure_policy text DEFAULT NULL, retries bigint DEFAULT NULL, retry text DEFAULT NULL,
            not_before timestamptz DEFAULT NULL, delay interval DEFAULT NULL, unique_key text DEFAULT NULL,
            unique_period interval DEFAULT NULL, unique_policy text DEFAULT NULL, limit_key text DEFAULT NULL,
            timeout interval DEFAULT NULL, deadline interval DEFAULT NULL, is_barrier boolean DEFAULT NULL,
            context text DEFAULT NULL) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
            SET search_path = pg_catalog, pg_temp SET row_security = off SET enable_seqscan = off SET plan_cache_mode = force_generic_plan
        AS $function$
        DECLARE
            lock_key bigint := hashtextextended(concat('swift-operations-durable ', @name), 0);
            word text; period interval; moment bigint; policy bigint; wake bigint; added bigint; kind_id bigint; new_state bigint;
            dependency bigint; pending bigint[] := '{}'; cause bigint; reason text; other record; held record;
            place @.durable_queue%ROWTYPE;
            payload bytea := convert_to(coalesce(durable_add.input, '{}')::text, 'UTF8');
        BEGIN
            priority := coalesce(priority, 0);
            unique_policy := coalesce(unique_policy, 'keep');
            is_barrier := coalesce(is_barrier, false);
            policy := array_position(ARRAY['runAnyway', 'cancel', 'fail'], coalesce(failure_policy, 'runAnyway')) - 1;
            IF queue IS NULL OR name IS NULL THEN
                RAISE 'durable_add: a queue and a name are necessary' USING ERRCODE = 'null_value_not_allowed';
            END IF;
            FOREACH word IN ARRAY ARRAY[queue, name, unique_key, limit_key] LOOP
                IF octet_length(convert_to(word, 'UTF8')) NOT BETWEEN 1 AND 200 OR strpos(word, chr(10)) > 0 THEN
                    RAISE 'durable_add: a name or a key is empty, has more than 200 bytes, or contains a line end'
                        USING ERRCODE = 'invalid_parameter_value';
                END IF;
            END LOOP;
            IF octet_length(payload) > 1048576 OR octet_length(convert_to(context, 'UTF8')) > 4096 THEN
                RAISE 'durable_add: the input has more than 1 MiB, or the context more than 4096 bytes'
                    USING ERRCODE = 'program_limit_exceeded';
            END IF;
            IF policy IS NULL OR priority NOT IN (-8, -4, 0, 4, 8) OR unique_policy NOT IN ('keep', 'replace', 'reject')
                OR retries NOT BETWEEN 0 AND 1000000000 THEN
                RAISE 'durable_add: a priority, a policy or the number of retries is outside its range'
                    USING ERRCODE = 'invalid_parameter_value';
            END IF;
            retry := coalesce(retry, nullif(retries, 0) || ',200,100000,60000000,100');
            IF retry !~ '^\\d{1,18},(0|1|[1-9]\\d{2,17}),\\d{1,18},\\d{1,18},(100|\\d{1,2})$' THEN
                RAISE 'durable_add: the retry rule is invalid' USING ERRCODE = 'invalid_parameter_value';
            END IF;
            FOREACH period IN ARRAY ARRAY[unique_period, timeout, deadline] LOOP
                IF period < interval '1 microsecond' THEN
                    RAISE 'durable_add: a time limit or a period is below one microsecond'
                        USING ERRCODE = 'invalid_parameter_value';
                END IF;
            END LOOP;
            IF current_setting('transaction_isolation') <> 'read committed' THEN
                -- The snapshot is older than the lock, and lacks the ends of dependencies.
                RAISE 'durable_add: the isolation of the transaction must be READ COMMITTED'
                    USING ERRCODE = 'feature_not_supported';
            END IF;
            IF current_setting('durable.additions', true) IS DISTINCT FROM txid_current()::text THEN
                IF EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid = pg_backend_pid()
                    AND objsubid = 1 AND classid::bigint = (lock_key >> 32) & 4294967295
                    AND objid::bigint = lock_key & 4294967295) THEN
                    -- The store keeps rows in memory during its transaction.
                    RAISE 'durable_add: a transaction of PostgresStore adds operations by DurableQueue.add(_:in:)'
                        USING ERRCODE = 'active_sql_transaction';
                END IF;
                PERFORM set_config('durable.additions', txid_current()::text, true);
            END IF;
            PERFORM pg_advisory_xact_lock(lock_key);
            IF (SELECT meta.text FROM @.durable_meta AS meta WHERE meta.name = 'store') IS DISTINCT FROM '@store' THEN
                RAISE 'durable_add: the tables durable_ are those of another store' USING ERRCODE = 'undefined_table';
            END IF;
            moment := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
            wake := coalesce((extract(epoch FROM not_before) * 1000000)::bigint,
                moment + (extract(epoch FROM delay) * 1000000)::bigint);
            FOREACH dependency IN ARRAY coalesce(after, '{}') LOOP
                SELECT known.state, known.root_cause, known.reason INTO other FROM @.durable_operation AS known
                    WHERE known.id = dependency;
                IF NOT FOUND THEN
                    RAISE 'durable_add: the store has no operation %', dependency USING ERRCODE = 'foreign_key_violation';
                END IF;
                IF other.state < 7 THEN
                    pending := pending || dependency;
                ELSIF other.state > 7 AND policy > 0 AND cause IS NULL THEN
                    cause := coalesce(other.root_cause, dependency);
                    reason := CASE WHEN other.root_cause IS NULL THEN concat('operation ', dependency, ' ended as ',
                        (ARRAY['failed', 'cancelled', 'discarded', 'crashed'])[other.state - 7], ': ' || other.reason)
                        ELSE other.reason END;
                END IF;
            END LOOP;
            SELECT known.id INTO kind_id FROM @.durable_kind AS known WHERE known.name = durable_add.name;
            IF kind_id IS NULL THEN
                INSERT INTO @.durable_kind(id, name) SELECT coalesce(max(known.id), 0) + 1, durable_add.name
                    FROM @.durable_kind AS known RETURNING durable_kind.id INTO kind_id;
            END IF;
            SELECT known.* INTO held FROM @.durable_unique AS kept JOIN @.durable_operation AS known ON known.id = kept.operation
                WHERE kept.kind = kind_id AND kept.key = unique_key AND (known.state < 7 OR kept.held_until > moment);
            IF FOUND THEN
                added := held.id;
                IF unique_policy = 'reject' THEN
                    RAISE 'durable_add: operation % holds the unique key %', added, quote_literal(unique_key)
                        USING ERRCODE = 'unique_violation';
                END IF;
                IF unique_policy = 'keep' OR held.fence > 0 OR held.state >= 7 THEN RETURN added; END IF;
                new_state := CASE WHEN held.state IN (2, 3) AND wake > moment THEN 1 ELSE held.state END;
                IF new_state <> held.state THEN
                    UPDATE @.durable_counter AS counter SET count = count - 1 WHERE counter.queue = held.queue
                        AND counter.epoch = held.epoch AND counter.kind = held.kind AND counter.state = held.state;
                    DELETE FROM @.durable_counter AS counter WHERE counter.queue = held.queue AND counter.epoch = held.epoch
                        AND counter.kind = held.kind AND counter.state = held.state AND count = 0;
                END IF;
                UPDATE @.durable_key AS counts SET ready = ready - (held.state = 3 AND new_state = 1)::int,
                    blocked = blocked - (held.state = 2 AND new_state = 1)::int, wake_at = moment
                    WHERE held.state IN (2, 3) AND counts.queue = held.queue AND counts.key = held.key;
                UPDATE @.durable_operation AS known SET priority = durable_add.priority, retry = durable_add.retry,
                    timeout = (extract(epoch FROM durable_add.timeout) * 1000000)::bigint,
                    deadline = moment + (extract(epoch FROM durable_add.deadline) * 1000000)::bigint,
                    context = durable_add.context, state = new_state,
                    wake_at = CASE new_state WHEN 0 THEN wake WHEN 1 THEN greatest(wake, moment) END,
                    input = CASE WHEN octet_length(payload) <= 512 THEN payload END WHERE known.id = added;
                DELETE FROM @.durable_input AS long WHERE long.id = added;
            ELSE
                INSERT INTO @.durable_queue(id, name) SELECT coalesce(max(known.id), 0) + 1, durable_add.queue
                    FROM @.durable_queue AS known
                    HAVING NOT EXISTS (SELECT FROM @.durable_queue AS same WHERE same.name = durable_add.queue);
                UPDATE @.durable_queue AS known SET last_epoch = last_epoch + 2 WHERE known.name = durable_add.queue AND is_barrier;
                SELECT known.* INTO place FROM @.durable_queue AS known WHERE known.name = durable_add.queue;
                UPDATE @.durable_meta AS meta SET number = number + 1 WHERE meta.name = 'next_operation'
                    RETURNING number - 1 INTO added;
                new_state := CASE WHEN pending <> '{}' THEN 0 WHEN wake > moment OR limit_key IS NOT NULL OR cause IS NOT NULL
                    OR place.current_epoch < place.last_epoch THEN 1 ELSE 3 END;
                INSERT INTO @.durable_operation(
                    id, queue, kind, epoch, priority, state, ready_at, wake_at, pending, children, failure_policy, root_cause,
                    key, fence, failures, lost_leases, retry, timeout, deadline, added_at, is_cancel_requested, history_count,
                    reason, context, input)
                    VALUES (added, place.id, kind_id, place.last_epoch - is_barrier::int, priority, new_state, moment,
                    CASE WHEN new_state = 0 THEN wake WHEN cause IS NOT NULL THEN moment
                    WHEN new_state = 1 THEN greatest(wake, moment) END,
                    (SELECT count(DISTINCT item) FROM unnest(pending) AS item), 0, policy, cause, limit_key, 0, 0, 0, retry,
                    (extract(epoch FROM timeout) * 1000000)::bigint,
                    moment + (extract(epoch FROM deadline) * 1000000)::bigint, moment, 0, 0, reason, context,
                    CASE WHEN octet_length(payload) <= 512 THEN payload END);
                INSERT INTO @.durable_edge(dependency, dependent, is_await)
                    SELECT DISTINCT item, added, 0 FROM unnest(pending) AS item;
                IF unique_key IS NOT NULL THEN
                    INSERT INTO @.durable_unique(kind, key, operation, held_until)
                        VALUES (kind_id, unique_key, added, moment + (extract(epoch FROM unique_period) * 1000000)::bigint)
                        ON CONFLICT ON CONSTRAINT durable_unique_pkey
                        DO UPDATE SET operation = excluded.operation, held_until = excluded.held_until;
                END IF;
            END IF;
            INSERT INTO @.durable_input(id, data) SELECT added, payload WHERE octet_length(payload) > 512;
            UPDATE @.durable_meta AS meta SET number = known.deadline FROM @.durable_operation AS known
                WHERE meta.name = 'first_deadline' AND known.id = added AND known.deadline < meta.number;
            IF held.state IS DISTINCT FROM new_state THEN
                INSERT INTO @.durable_counter(queue, epoch, kind, state, count)
                    SELECT known.queue, known.epoch, known.kind, known.state, 1 FROM @.durable_operation AS known
                    WHERE known.id = added ON CONFLICT ON CONSTRAINT durable_counter_pkey
                    DO UPDATE SET count = durable_counter.count + 1;
                IF (SELECT meta.number FROM @.durable_meta AS meta WHERE meta.name = 'observed_until') >= moment THEN
                    INSERT INTO @.durable_event(number, operation, queue, kind, state, fence, at, reason)
                        SELECT meta.number, known.id, known.queue, known.kind, known.state, known.fence, moment, known.reason
                        FROM @.durable_operation AS known, @.durable_meta AS meta
                        WHERE known.id = added AND meta.name = 'next_event';
                    UPDATE @.durable_meta AS meta SET number = number + 1 WHERE meta.name = 'next_event';
                END IF;
            END IF;
            UPDATE @.durable_queue AS known SET current_epoch = (SELECT min(counter.epoch) FROM @.durable_counter AS counter
                WHERE counter.queue = known.id AND counter.epoch >= known.current_epoch)
                WHERE known.id = place.id AND known.current_epoch < known.last_epoch;
            PERFORM pg_notify('durable_change', lock_key || ' 0 -rw ');
            RETURN added;
        END $function$;
        $text$, '@store', (SELECT text FROM durable_meta WHERE name = 'store')),
        '@.', quote_ident(current_schema()) || '.'), '@name', quote_literal(current_schema())); END $migration$;
        REVOKE ALL ON FUNCTION durable_add FROM PUBLIC;
        """
}
#endif
