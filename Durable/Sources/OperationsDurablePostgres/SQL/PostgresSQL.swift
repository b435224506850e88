#if Postgres
import DurableCore

/// The statements of a store in PostgreSQL. All values are parameters, and one array of a parameter stands for a set.
///
/// Constants in a condition name states: 0 is waiting, 2 is blocked, 3 is ready, 4 is running, and states from 7 are ended.
enum PostgresSQL: Int, CaseIterable {
    case migrationLock, lock, now, snapshot, flush, notify, exists
    case settle, exchange, tables, verify, unlock, renewLease, lockHolder
    case operations, insertOperations, insertAlike, updateOperations, subtractPending
    case inputs, insertInputs, replaceInputs, output, saveOutputs
    case removeEdges, edgesTo, edgesFrom, insertEdges
    case matching, children, waiting, ready, blocked, oldestReady, due, expired, wakes, firstBlocked, lastReady
    case running, suspects, cancelRequests, purgeable
    case removeOperations, removeInputs, removeOutputs, removeEdgesTo, removeUniques, removeHistory, removeSignals
    case removeAttempts
    case insertQueue, queueByName, queueByID, queuesByID, queues, updateQueues
    case insertKind, kindByName, kindByID
    case counters, epochCounters, firstEpoch, runningCount, addCounters, removeCounters
    case keysByName, keys, saveKeys, removeKeys, dueKeys
    case unique, uniquePeriods, saveUniques
    case history, insertHistory
    case signal, lastSignal, insertSignals, removeSignal
    case worker, workers, expiredWorkers, saveWorkers, removeWorkers
    case schedule, schedules, dueSchedules, saveSchedules, removeSchedule
    case attempts, saveAttempts, trimAttempts
    case events, insertEvents, removeEvents
    case number, numbers, setNumbers, identity

    /// The instant at which the age of an operation begins, for filters.
    private static let ageBegin =
        "coalesce(CASE WHEN state >= 7 THEN ended_at WHEN state = 4 THEN started_at END, added_at)"

    /// The name of the prepared statement.
    var name: String { Self.names[rawValue] }
    var text: String { Self.texts[rawValue] }

    /// Whether the statement changes tables.
    var isChange: Bool { Self.changes[rawValue] }

    private static let changes: [Bool] = texts.map { text in
        !["SELECT", "(SELECT", "WITH"].contains { text.hasPrefix($0) }
    }
    private static let names: [String] = allCases.map { "durable_\($0)" }
    private static let texts: [String] = allCases.map { sql in
        sql.operationText ?? OperationQuery.Kind(rawValue: "\(sql)")?.text(.postgres) ?? sql.tableText
            ?? sql.sessionText
    }
    /// The statements of questions, by the names of these.
    static let queries = Dictionary(
        uniqueKeysWithValues: allCases.compactMap { sql in OperationQuery.Kind(rawValue: "\(sql)").map { ($0, sql) } })

    /// Returns the statement on the first operations of lanes, which differ in priority only.
    ///
    /// The server executes the parts in their order, and none after the limit.
    ///
    /// - Parameters:
    ///   - limit: The largest number of operations.
    ///   - floor: Returns the floor of a lane: its instant and its identifier.
    private static func lanes(
        _ condition: String, limit: String, floor: (_ lane: Int) -> (instant: String, id: String)
    ) -> String {
        DurablePriority.allCases.enumerated().reversed().map { index, priority in
            let floor = floor(index)
            return """
                (SELECT priority, ready_at, id FROM @.durable_operation WHERE \(condition) \
                AND priority = \(priority.rawValue) AND (ready_at, id) >= (\(floor.instant), \(floor.id)) \
                ORDER BY ready_at, id LIMIT \(limit))
                """
        }.joined(separator: " UNION ALL ") + " LIMIT \(limit)"
    }

    /// Returns the statement on operations of each key.
    ///
    /// - Parameters:
    ///   - more: Further columns of the shares.
    ///   - columns: The columns of the result.
    ///   - part: The statement on one share.
    private static func shares(_ more: [String] = [], columns: String, _ part: String) -> String {
        let types = ["bigint", "text", "bigint"] + more.map { _ in "bigint" }
        let arrays = types.enumerated().map { "$\($0 + 1)::\($1)[]" }.joined(separator: ", ")
        return """
            SELECT \(columns) FROM unnest(\(arrays)) WITH ORDINALITY \
            AS share(\((["of_queue", "name", "most"] + more + ["position"]).joined(separator: ", "))), \
            LATERAL (\(part)) AS found
            """
    }

    private static let floors = DurablePriority.allCases.indices.flatMap { ["instant_\($0)", "id_\($0)"] }

    private static let operationScalars =
        OperationRow.table.columns.enumerated().dropFirst().map { "$\($0 + 1)::\($1.kind)" }.joined(separator: ", ")

    private var operationText: String? {
        switch self {
        case .operations: "SELECT \(OperationRow.table.list) FROM @.durable_operation WHERE id = ANY($1::bigint[])"
        case .insertOperations: OperationRow.table.insertion(.postgres, more: [.input])
        // The server takes half of the time for rows that differ in their identifiers and inputs only.
        case .insertAlike:
            """
            INSERT INTO @.durable_operation(\(OperationRow.table.list), input) \
            SELECT coalesce(new.id, $1::bigint), \(Self.operationScalars), new.input \
            FROM unnest($\(OperationRow.table.columns.count + 1)::bigint[], $\(OperationRow.table.columns.count + 2)::bytea[]) \
            AS new(id, input)
            """
        case .updateOperations: OperationRow.table.update(.postgres)
        case .subtractPending:
            """
            UPDATE @.durable_operation SET pending = pending - ended.count \
            FROM unnest($1::bigint[], $2::bigint[]) AS ended(id, count) \
            WHERE durable_operation.id = ended.id AND pending > ended.count RETURNING durable_operation.id
            """
        case .inputs:
            """
            SELECT durable_operation.id, coalesce(durable_operation.input, durable_input.data) FROM @.durable_operation \
            LEFT JOIN @.durable_input ON durable_input.id = durable_operation.id \
            WHERE durable_operation.id = ANY($1::bigint[])
            """
        case .insertInputs: "INSERT INTO @.durable_input(id, data) SELECT * FROM unnest($1::bigint[], $2::bytea[])"
        case .replaceInputs:
            """
            UPDATE @.durable_operation SET input = new.data FROM unnest($1::bigint[], $2::bytea[]) AS new(id, data) \
            WHERE durable_operation.id = new.id
            """
        case .output: "SELECT data FROM @.durable_output WHERE id = $1::bigint"
        case .saveOutputs:
            """
            INSERT INTO @.durable_output(id, data) SELECT * FROM unnest($1::bigint[], $2::bytea[]) \
            ON CONFLICT (id) DO UPDATE SET data = excluded.data
            """
        case .removeEdges:
            """
            DELETE FROM @.durable_edge WHERE dependency = ANY($1::bigint[]) RETURNING dependency, dependent, is_await
            """
        case .edgesTo: "SELECT \(Edge.table.list) FROM @.durable_edge WHERE dependent = ANY($1::bigint[])"
        case .edgesFrom:
            "SELECT \(Edge.table.list) FROM @.durable_edge WHERE dependency = ANY($1::bigint[])"
        case .insertEdges: Edge.table.insertion(.postgres)
        case .matching:
            """
            SELECT id FROM @.durable_operation WHERE id > $1::bigint AND ($2::bigint IS NULL OR ($2 >> state::int) & 1 = 1) \
            AND ($3::bigint IS NULL OR queue = $3) AND ($4::bigint IS NULL OR kind = $4) \
            AND ($6::bigint IS NULL OR \(Self.ageBegin) >= $6) AND ($7::bigint IS NULL OR \(Self.ageBegin) <= $7) \
            ORDER BY id LIMIT $5::bigint
            """
        case .children:
            """
            SELECT id FROM @.durable_operation WHERE parent IS NOT NULL AND parent = ANY($1::bigint[]) AND state < 7
            """
        case .ready:
            Self.lanes(
                "queue = $1::bigint AND epoch = $2::bigint AND kind = $3::bigint AND state = 3", limit: "$4::bigint"
            ) { ("$\(2 * $0 + 5)::bigint", "$\(2 * $0 + 6)::bigint") }
        case .blocked:
            Self.shares(
                ["of_epoch"] + Self.floors, columns: "position, found.priority, found.ready_at, found.id",
                Self.lanes(
                    "queue = of_queue AND key = name AND epoch = of_epoch AND key IS NOT NULL AND state = 2",
                    limit: "most"
                ) { ("instant_\($0)", "id_\($0)") })
        case .firstBlocked:
            Self.shares(
                columns: "found.id",
                """
                SELECT id FROM @.durable_operation WHERE queue = of_queue AND key = name AND key IS NOT NULL AND state = 2 \
                ORDER BY epoch, priority DESC, ready_at, id LIMIT most
                """)
        case .lastReady:
            Self.shares(
                columns: "found.id",
                """
                SELECT id FROM @.durable_operation WHERE queue = of_queue AND key = name AND key IS NOT NULL AND state = 3 \
                ORDER BY epoch DESC, priority, ready_at DESC, id DESC LIMIT most
                """)
        // As the question of all stores, behind the floor of wakes.
        case .due:
            """
            SELECT id FROM @.durable_operation WHERE state IN (1, 5) AND wake_at <= $1::bigint AND wake_at >= $3::bigint \
            ORDER BY wake_at, id LIMIT $2::bigint
            """
        // As the question of all stores, behind the first deadline.
        case .expired:
            """
            SELECT id FROM @.durable_operation WHERE deadline IS NOT NULL AND state IN (0, 1, 2, 3, 5) \
            AND deadline <= $1::bigint AND deadline >= $3::bigint ORDER BY deadline, id LIMIT $2::bigint
            """
        case .oldestReady:
            """
            SELECT ready_at FROM @.durable_operation WHERE queue = $1::bigint AND epoch = $2::bigint \
            AND kind = $3::bigint AND state = 3 AND priority = $4::bigint ORDER BY ready_at LIMIT 1
            """
        case .wakes:
            """
            SELECT (SELECT min(wake_at) FROM @.durable_operation WHERE state IN (1, 5) AND wake_at >= $1::bigint), \
            (SELECT min(deadline) FROM @.durable_operation WHERE deadline IS NOT NULL AND state IN (0, 1, 2, 3, 5) \
            AND deadline >= $2::bigint), \
            (SELECT min(wake_at) FROM @.durable_key WHERE wake_at IS NOT NULL AND wake_at >= $1::bigint), \
            (SELECT min(\(Self.scheduleDue)) FROM @.durable_schedule), (SELECT min(lease_end) FROM @.durable_worker), \
            (SELECT min(id) FROM @.durable_operation WHERE crashes > 0 AND state < 7)
            """
        case .removeOperations: "DELETE FROM @.durable_operation WHERE id = ANY($1::bigint[])"
        case .removeInputs: "DELETE FROM @.durable_input WHERE id = ANY($1::bigint[])"
        case .removeOutputs: "DELETE FROM @.durable_output WHERE id = ANY($1::bigint[])"
        case .removeEdgesTo: "DELETE FROM @.durable_edge WHERE dependent = ANY($1::bigint[])"
        case .removeUniques: "DELETE FROM @.durable_unique WHERE operation = ANY($1::bigint[])"
        case .removeHistory: "DELETE FROM @.durable_history WHERE operation = ANY($1::bigint[])"
        case .removeSignals: "DELETE FROM @.durable_signal WHERE operation = ANY($1::bigint[])"
        case .removeAttempts: "DELETE FROM @.durable_attempt WHERE operation = ANY($1::bigint[])"
        default: nil
        }
    }
}
#endif
