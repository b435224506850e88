package import DurableCore
import Foundation

/// A statement of SQL for any driver of the store's database. All values are parameters.
public struct DurableStatement: Sendable, Hashable {
    /// The text, with `$1` for the first parameter in PostgreSQL, and `?1` in SQLite.
    public let sql: String
    /// The values, as texts; nil for NULL.
    public let parameters: [String?]

    package init(sql: String, parameters: [String?]) { (self.sql, self.parameters) = (sql, parameters) }
}

/// A store whose database has a function or a view for additions by any driver.
package protocol StatementStore: DurableStore {
    /// Returns the statement that adds an operation, whose columns have the values.
    func statement(adding columns: [AdditionColumn]) -> DurableStatement
}

/// One value of an addition: a column of the view in SQLite, an argument of the function in PostgreSQL.
package struct AdditionColumn: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case text, json, number, identifiers, date, seconds, boolean
    }

    package let name: String
    package let kind: Kind
    package let value: String
}

extension NewOperation {
    /// The values that differ from their defaults.
    func columns() -> [AdditionColumn] {
        let ids = after.compactMap { if case .existing(let id) = $0 { "\(id)" } else { nil } }.joined(separator: ",")
        var (date, delay): (String?, String?)
        switch start {
        case .now: break
        case .at(let instant): date = Self.seconds(instant.microseconds)
        case .after(let time): delay = Self.seconds(time.microseconds)
        }
        let values: [(String, AdditionColumn.Kind, String?)] = [
            ("queue", .text, queue), ("name", .text, name), ("input", .json, String(decoding: input, as: UTF8.self)),
            ("priority", .number, priority == .normal ? nil : "\(priority.rawValue)"),
            ("after", .identifiers, after.isEmpty ? nil : ids),
            ("failure_policy", .text, failurePolicy == .runAnyway ? nil : "\(failurePolicy)"),
            ("retry", .text, retry.text),
            ("not_before", .date, date), ("delay", .seconds, delay), ("unique_key", .text, unique),
            ("unique_period", .seconds, uniquePeriod.map { Self.seconds($0.microseconds) }),
            ("unique_policy", .text, uniquePolicy == .keep ? nil : "\(uniquePolicy)"), ("limit_key", .text, key),
            ("timeout", .seconds, timeout.map { Self.seconds($0.microseconds) }),
            ("deadline", .seconds, deadline.map { Self.seconds($0.microseconds) }),
            ("is_barrier", .boolean, isBarrier ? "1" : nil), ("context", .text, context),
        ]
        return values.compactMap { name, kind, value in value.map { AdditionColumn(name: name, kind: kind, value: $0) }
        }
    }

    /// Returns a number of seconds. Later times than the year 287169 are that year, and times before 1970 are 1970.
    private static func seconds(_ microseconds: Int64) -> String {
        let value = min(max(0, microseconds), 9_000_000_000_000_000_000)
        let rest = "\(value % 1_000_000)"
        return "\(value / 1_000_000).\(String(repeating: "0", count: 6 - rest.count))\(rest)"
    }
}

extension DurableQueue {
    /// Returns the statement that adds an operation, for a transaction of any driver of the store's database.
    ///
    /// The operation exists if and only if the transaction commits. In PostgreSQL, the result of the statement is the identifier of
    /// the operation: one row with one column. In SQLite, `SELECT value FROM main.durable_meta WHERE name = 'last_addition'` returns the
    /// identifier in the same transaction. Other writers wait from the statement until the end of the transaction.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - priority: The priority in the queue.
    ///   - dependencies: The operations that end before the operation starts.
    ///   - retry: The rule for retries.
    ///   - options: Further options. The named parameters have precedence.
    /// - Throws: `DurableError` for invalid values, and for a store in memory.
    public func statement<Work: DurableOperation>(
        adding operation: Work, priority: DurablePriority? = nil, after dependencies: [any DurableReference] = [],
        retry: RetryRule? = nil, options: DurableOptions = DurableOptions()
    ) throws -> DurableStatement {
        guard let store = store as? any StatementStore else {
            throw DurableError.invalidValue("a store in memory has no statements")
        }
        let new = try newOperation(operation, priority, dependencies, retry, options)
        try new.check(store.limits)
        return store.statement(adding: new.columns())
    }
}
