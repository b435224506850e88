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

    static let operationColumns = """
        id, queue, kind, epoch, priority, state, ready_at, wake_at, pending, children, parent, failure_policy, \
        root_cause, key, worker, fence, failures, lost_leases, retry, timeout, deadline, added_at, started_at, \
        ended_at, purge_at, is_cancel_requested, history_count, signal, work_outcome, reason, context, crashes, death
        """
    static let queueColumns = """
        id, name, is_suspended, max_running, max_per_key, rate_count, rate_period, rate_filled_at, current_epoch, \
        last_epoch, key_rate_count, key_rate_period
        """

    static let keyColumns = """
        key, max_running, running, ready, blocked, rate_count, rate_period, rate_filled_at, wake_at
        """
    static let workerColumns = "id, name, lease_end, kinds, queues, process, isolates"
    static let attemptColumns = "operation, fence, worker, started_at, ended_at, outcome, reason"
    static let eventColumns = "number, operation, queue, kind, state, fence, at, reason"
    static let scheduleColumns =
        "name, cron, missed, next_at, kind, queue, input, priority, retry, key, timeout, due_at, overlap, last"
    /// The next time of a schedule. Workers before schema 4 read the column `next_at` only.
    static let scheduleDue = "CASE WHEN next_at = 9223372036854775807 THEN coalesce(due_at, next_at) ELSE next_at END"

    /// The texts, at the positions of the raw values.
    static let texts: [String] = allCases.map(\.written)

    var text: String { Self.texts[rawValue] }

    private var written: String { operationText ?? tableText }

    private var operationText: String? {
        switch self {
        case .insertOperation:
            """
            INSERT INTO main.durable_operation(\(Self.operationColumns), input) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, \
            ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, \
            ?32, \
            ?33, ?34)
            """
        case .updateOperation:
            """
            UPDATE main.durable_operation SET queue = ?2, kind = ?3, epoch = ?4, priority = ?5, state = ?6, ready_at = ?7, \
            wake_at = ?8, pending = ?9, children = ?10, parent = ?11, failure_policy = ?12, root_cause = ?13, key = ?14, \
            worker = ?15, fence = ?16, failures = ?17, lost_leases = ?18, retry = ?19, timeout = ?20, deadline = ?21, \
            added_at = ?22, started_at = ?23, ended_at = ?24, purge_at = ?25, is_cancel_requested = ?26, \
            history_count = ?27, signal = ?28, work_outcome = ?29, reason = ?30, context = ?31, crashes = ?32, death = ?33 WHERE id = ?1
            """
        case .subtractPending: "UPDATE main.durable_operation SET pending = pending - ?2 WHERE id = ?1 AND pending > ?2"
        case .operation: "SELECT \(Self.operationColumns) FROM main.durable_operation WHERE id = ?1"
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
            "SELECT dependency, dependent, is_await FROM main.durable_edge WHERE dependent = ?1 ORDER BY dependency"
        case .edgesFrom:
            "SELECT dependency, dependent, is_await FROM main.durable_edge WHERE dependency = ?1 ORDER BY dependent"
        case .insertEdge: "INSERT INTO main.durable_edge(dependency, dependent, is_await) VALUES (?1, ?2, ?3)"
        case .matching:
            """
            SELECT id FROM main.durable_operation WHERE id > ?1 AND (?2 IS NULL OR (?2 >> state) & 1) AND (?3 IS NULL OR queue = ?3) \
            AND (?4 IS NULL OR kind = ?4) AND (?6 IS NULL OR \(Self.ageBegin) >= ?6) AND (?7 IS NULL OR \(Self.ageBegin) <= ?7) \
            ORDER BY id LIMIT ?5
            """
        case .children: "SELECT id FROM main.durable_operation WHERE parent = ?1 AND state < 7 ORDER BY id"
        case .waiting:
            """
            SELECT id FROM main.durable_operation WHERE queue = ?1 AND epoch >= ?2 AND epoch < ?3 \
            AND state < 7 AND (state = 0 OR children > 0)
            """
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
        case .due:
            """
            SELECT id FROM main.durable_operation WHERE state IN (1, 5) AND wake_at <= ?1 ORDER BY wake_at, id LIMIT ?2
            """
        case .nextWake: "SELECT min(wake_at) FROM main.durable_operation WHERE state IN (1, 5)"
        case .expired:
            """
            SELECT id FROM main.durable_operation WHERE deadline IS NOT NULL AND state IN (0, 1, 2, 3, 5) AND deadline <= ?1 \
            ORDER BY deadline, id LIMIT ?2
            """
        case .nextDeadline:
            "SELECT min(deadline) FROM main.durable_operation WHERE deadline IS NOT NULL AND state IN (0, 1, 2, 3, 5)"
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
        case .running: "SELECT id FROM main.durable_operation WHERE worker = ?1 AND state = 4"
        case .suspects: "SELECT id FROM main.durable_operation WHERE crashes > 0 AND state < 7 ORDER BY id"
        case .cancelRequests:
            """
            SELECT id FROM main.durable_operation WHERE worker = ?1 AND is_cancel_requested = 1 AND state = 4 ORDER BY id
            """
        case .purgeable:
            """
            SELECT id FROM main.durable_operation WHERE purge_at IS NOT NULL AND purge_at <= ?1 ORDER BY purge_at, id LIMIT ?2
            """
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
