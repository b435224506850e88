import DurableCore

/// The statements of a store in SQLite. All values are parameters.
///
/// No statement replaces a row. A row may have columns of a newer version, which an update of the other columns keeps.
/// Constants in a condition name states: 0 is waiting, 2 is blocked, 3 is ready, 4 is running, and states from 7 are ended.
enum SQL: Int, CaseIterable {
    case insertOperation, updateOperation, subtractPending, operation, input, insertInput, replaceInput, output,
        insertOutput
    case removeEdges, edgesTo, edgesFrom, insertEdge
    case matching, children, waiting, ready, oldestReady, due, nextWake, expired, nextDeadline, firstBlocked, lastReady
    case running, suspects, cancelRequests, purgeable
    case removeOperation, removeInput, removeOutput, removeEdgesTo, removeUniques, removeHistory, removeSignals
    case insertQueue, queueByName, queueByID, queues, updateQueue
    case insertKind, kindByName, kindByID
    case counters, epochCounters, firstEpoch, runningCount, addCounter, removeCounter
    case key, keys, saveKey, removeKey, dueKeys, nextKey
    case unique, uniquePeriod, saveUnique
    case history, insertHistory
    case attempts, insertAttempt, trimAttempts, removeAttempts
    case events, insertEvent, removeEvents
    case signal, lastSignal, insertSignal, removeSignal
    case worker, workers, expiredWorkers, saveWorker, removeWorker
    case schedule, schedules, dueSchedules, nextSchedule, saveSchedule, removeSchedule
    case meta, setMeta

    /// The instant at which the age of an operation begins, for filters.
    private static let ageBegin =
        "coalesce(CASE WHEN state >= 7 THEN ended_at WHEN state = 4 THEN started_at END, added_at)"

    /// The next time of a schedule. Workers before schema 4 read the column `next_at` only.
    static let scheduleDue = "CASE WHEN next_at = 9223372036854775807 THEN coalesce(due_at, next_at) ELSE next_at END"

    /// The texts, at the positions of the raw values.
    static let texts: [String] = allCases.map(\.written)

    var text: String { Self.texts[rawValue] }

    private var written: String {
        operationText ?? OperationQuery.Kind(rawValue: "\(self)")?.text(.sqlite) ?? tableText
    }

    /// The statements of questions, by the names of these.
    static let queries = Dictionary(
        uniqueKeysWithValues: allCases.compactMap { sql in OperationQuery.Kind(rawValue: "\(sql)").map { ($0, sql) } })

    private var operationText: String? {
        switch self {
        case .insertOperation:
            OperationRow.table.insertion(.sqlite, more: [.input])
        case .updateOperation: OperationRow.table.update(.sqlite)
        case .subtractPending: "UPDATE main.durable_operation SET pending = pending - ?2 WHERE id = ?1 AND pending > ?2"
        case .operation: "SELECT \(OperationRow.table.list) FROM main.durable_operation WHERE id = ?1"
        case .input:
            """
            SELECT coalesce(durable_operation.input, durable_input.data) FROM main.durable_operation \
            LEFT JOIN main.durable_input ON durable_input.id = durable_operation.id WHERE durable_operation.id = ?1
            """
        case .insertInput: "INSERT INTO main.durable_input(id, data) VALUES (?1, ?2)"
        case .replaceInput: "UPDATE main.durable_operation SET input = ?2 WHERE id = ?1"
        case .output: "SELECT data FROM main.durable_output WHERE id = ?1"
        case .insertOutput:
            "INSERT INTO main.durable_output(id, data) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET data = ?2"
        case .removeEdges: "DELETE FROM main.durable_edge WHERE dependency = ?1"
        case .edgesTo:
            "SELECT \(Edge.table.list) FROM main.durable_edge WHERE dependent = ?1 ORDER BY dependency"
        case .edgesFrom:
            "SELECT \(Edge.table.list) FROM main.durable_edge WHERE dependency = ?1 ORDER BY dependent"
        case .insertEdge: Edge.table.insertion(.sqlite)
        case .matching:
            """
            SELECT id FROM main.durable_operation WHERE id > ?1 AND (?2 IS NULL OR (?2 >> state) & 1) AND (?3 IS NULL OR queue = ?3) \
            AND (?4 IS NULL OR kind = ?4) AND (?6 IS NULL OR \(Self.ageBegin) >= ?6) AND (?7 IS NULL OR \(Self.ageBegin) <= ?7) \
            ORDER BY id LIMIT ?5
            """
        case .children: "SELECT id FROM main.durable_operation WHERE parent = ?1 AND state < 7 ORDER BY id"
        case .ready:
            """
            SELECT priority, ready_at, id FROM main.durable_operation WHERE queue = ?1 AND epoch = ?2 AND kind = ?3 \
            AND state = 3 ORDER BY priority DESC, ready_at, id LIMIT ?4
            """
        case .oldestReady:
            """
            SELECT ready_at FROM main.durable_operation WHERE queue = ?1 AND epoch = ?2 AND kind = ?3 AND state = 3 \
            AND priority = ?4 ORDER BY ready_at LIMIT 1
            """
        case .firstBlocked:
            """
            SELECT id FROM main.durable_operation WHERE queue = ?1 AND key = ?2 AND state = 2 \
            ORDER BY epoch, priority DESC, ready_at, id LIMIT ?3
            """
        case .lastReady:
            """
            SELECT id FROM main.durable_operation WHERE queue = ?1 AND key = ?2 AND state = 3 \
            ORDER BY epoch DESC, priority, ready_at DESC, id DESC LIMIT ?3
            """
        case .nextWake: "SELECT min(wake_at) FROM main.durable_operation WHERE state IN (1, 5)"
        case .nextDeadline:
            "SELECT min(deadline) FROM main.durable_operation WHERE deadline IS NOT NULL AND state IN (0, 1, 2, 3, 5)"
        case .removeOperation: "DELETE FROM main.durable_operation WHERE id = ?1"
        case .removeInput: "DELETE FROM main.durable_input WHERE id = ?1"
        case .removeOutput: "DELETE FROM main.durable_output WHERE id = ?1"
        case .removeEdgesTo: "DELETE FROM main.durable_edge WHERE dependent = ?1"
        case .removeUniques: "DELETE FROM main.durable_unique WHERE operation = ?1"
        case .removeHistory: "DELETE FROM main.durable_history WHERE operation = ?1"
        case .removeAttempts: "DELETE FROM main.durable_attempt WHERE operation = ?1"
        case .removeSignals: "DELETE FROM main.durable_signal WHERE operation = ?1"
        default: nil
        }
    }
}
