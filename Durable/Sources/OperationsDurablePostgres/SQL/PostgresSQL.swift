#if Postgres

/// The statements of a store in PostgreSQL. All values are parameters, and one array of a parameter stands for a set.
///
/// Constants in a condition name states: 0 is waiting, 2 is blocked, 3 is ready, 4 is running, and states from 7 are ended.
enum PostgresSQL: Int, CaseIterable {
    case migrationLock, lock, now, snapshot, flush, notify, exists
    case settle, exchange, verify, unlock, renewLease, lockHolder
    case operations, insertOperations, updateOperations, subtractPending, inputs, insertInputs, replaceInputs, output,
        saveOutputs
    case removeEdges, edgesTo, edgesFrom, insertEdges
    case matching, children, waiting, ready, oldestReady, due, expired, wakes, firstBlocked, lastReady
    case running, suspects, cancelRequests, purgeable
    case removeOperations, removeInputs, removeOutputs, removeEdgesTo, removeUniques, removeHistory, removeSignals
    case removeAttempts
    case insertQueue, queueByName, queueByID, queuesByID, queues, updateQueue
    case insertKind, kindByName, kindByID
    case counters, epochCounters, firstEpoch, runningCount, addCounters, removeCounters
    case key, keys, saveKeys, removeKeys, dueKeys
    case unique, uniquePeriods, saveUniques
    case history, insertHistory
    case signal, lastSignal, insertSignals, removeSignal
    case worker, workers, expiredWorkers, saveWorkers, removeWorkers
    case schedule, schedules, dueSchedules, saveSchedule, removeSchedule
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

    private static let changes: [Bool] = texts.map { !$0.hasPrefix("SELECT") && !$0.hasPrefix("WITH") }
    private static let names: [String] = allCases.map { "durable_\($0)" }
    private static let texts: [String] = allCases.map { $0.operationText ?? $0.tableText ?? $0.sessionText }

    /// The columns of `durable_operation` without the input, and their types.
    static let operationColumns: [(name: String, type: PostgresArray.Element)] = [
        ("id", .bigint), ("queue", .bigint), ("kind", .bigint), ("epoch", .bigint), ("priority", .bigint),
        ("state", .bigint), ("ready_at", .bigint), ("wake_at", .bigint), ("pending", .bigint), ("children", .bigint),
        ("parent", .bigint), ("failure_policy", .bigint), ("root_cause", .bigint), ("key", .text), ("worker", .bigint),
        ("fence", .bigint), ("failures", .bigint), ("lost_leases", .bigint), ("retry", .text), ("timeout", .bigint),
        ("deadline", .bigint), ("added_at", .bigint), ("started_at", .bigint), ("ended_at", .bigint),
        ("purge_at", .bigint), ("is_cancel_requested", .bigint), ("history_count", .bigint), ("signal", .text),
        ("work_outcome", .bigint), ("reason", .text), ("context", .text), ("crashes", .bigint), ("death", .bigint),
    ]

    private static let operationNames = operationColumns.map(\.name).joined(separator: ", ")
    private static let operationArrays = arrays(operationColumns.map(\.type))
    private static let operationChanges =
        operationColumns.dropFirst().map { "\($0.name) = new.\($0.name)" }.joined(separator: ", ")

    /// Returns parameters of array types, in their order.
    private static func arrays(_ types: [PostgresArray.Element]) -> String {
        types.enumerated().map { "$\($0 + 1)::\($1)[]" }.joined(separator: ", ")
    }

    private var operationText: String? {
        switch self {
        case .operations: "SELECT \(Self.operationNames) FROM @.durable_operation WHERE id = ANY($1::bigint[])"
        case .insertOperations:
            """
            INSERT INTO @.durable_operation(\(Self.operationNames), input) \
            SELECT * FROM unnest(\(Self.arrays(Self.operationColumns.map(\.type) + [.bytea])))
            """
        case .updateOperations:
            """
            UPDATE @.durable_operation SET \(Self.operationChanges) \
            FROM unnest(\(Self.operationArrays)) AS new(\(Self.operationNames)) WHERE durable_operation.id = new.id
            """
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
        case .edgesTo: "SELECT dependency, dependent, is_await FROM @.durable_edge WHERE dependent = ANY($1::bigint[])"
        case .edgesFrom:
            "SELECT dependency, dependent, is_await FROM @.durable_edge WHERE dependency = ANY($1::bigint[])"
        case .insertEdges:
            """
            INSERT INTO @.durable_edge(dependency, dependent, is_await) \
            SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[])
            """
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
        case .waiting:
            """
            SELECT id FROM @.durable_operation WHERE queue = $1::bigint AND epoch >= $2::bigint AND epoch < $3::bigint \
            AND state < 7 AND (state = 0 OR children > 0)
            """
        case .ready:
            """
            SELECT priority, ready_at, id FROM @.durable_operation WHERE queue = $1::bigint AND epoch = $2::bigint \
            AND kind = $3::bigint AND state = 3 ORDER BY priority DESC, ready_at, id LIMIT $4::bigint
            """
        case .oldestReady:
            """
            SELECT ready_at FROM @.durable_operation WHERE queue = $1::bigint AND epoch = $2::bigint \
            AND kind = $3::bigint AND state = 3 AND priority = $4::bigint ORDER BY ready_at LIMIT 1
            """
        case .due:
            """
            SELECT id FROM @.durable_operation WHERE state IN (1, 5) AND wake_at <= $1::bigint \
            ORDER BY wake_at, id LIMIT $2::bigint
            """
        case .expired:
            """
            SELECT id FROM @.durable_operation WHERE deadline IS NOT NULL AND state IN (0, 1, 2, 3, 5) \
            AND deadline <= $1::bigint ORDER BY deadline, id LIMIT $2::bigint
            """
        case .wakes:
            """
            SELECT (SELECT min(wake_at) FROM @.durable_operation WHERE state IN (1, 5)), \
            (SELECT min(deadline) FROM @.durable_operation WHERE deadline IS NOT NULL AND state IN (0, 1, 2, 3, 5)), \
            (SELECT min(wake_at) FROM @.durable_key WHERE wake_at IS NOT NULL), \
            (SELECT min(\(Self.scheduleDue)) FROM @.durable_schedule), (SELECT min(lease_end) FROM @.durable_worker), \
            (SELECT min(id) FROM @.durable_operation WHERE crashes > 0 AND state < 7)
            """
        case .firstBlocked:
            """
            SELECT id FROM @.durable_operation WHERE queue = $1::bigint AND key = $2::text AND state = 2 \
            ORDER BY epoch, priority DESC, ready_at, id LIMIT $3::bigint
            """
        case .lastReady:
            """
            SELECT id FROM @.durable_operation WHERE queue = $1::bigint AND key = $2::text AND state = 3 \
            ORDER BY epoch DESC, priority, ready_at DESC, id DESC LIMIT $3::bigint
            """
        case .running: "SELECT id FROM @.durable_operation WHERE worker = $1::bigint AND state = 4"
        case .suspects: "SELECT id FROM @.durable_operation WHERE crashes > 0 AND state < 7"
        case .cancelRequests:
            "SELECT id FROM @.durable_operation WHERE worker = $1::bigint AND is_cancel_requested = 1 AND state = 4"
        case .purgeable:
            """
            SELECT id FROM @.durable_operation WHERE purge_at IS NOT NULL AND purge_at <= $1::bigint \
            ORDER BY purge_at, id LIMIT $2::bigint
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
