/// A row of one table. The columns and their order are the same in each database.
package protocol StoredRow {
    static var table: Table { get }
    /// Reads the columns of the table.
    init(_ columns: some ColumnReader)
    /// Writes the columns of the table, in their order.
    func write(to columns: inout some ColumnWriter)
}

/// A source of the columns of one row, by their positions.
package protocol ColumnReader {
    func int(_ column: Int) -> Int64
    func optionalInt(_ column: Int) -> Int64?
    func text(_ column: Int) -> String
    func optionalText(_ column: Int) -> String?
    func bytes(_ column: Int) -> [UInt8]
    func optionalBytes(_ column: Int) -> [UInt8]?
}

extension ColumnReader {
    package func instant(_ column: Int) -> DurableInstant { DurableInstant(microseconds: int(column)) }

    package func optionalInstant(_ column: Int) -> DurableInstant? {
        optionalInt(column).map { DurableInstant(microseconds: $0) }
    }

    package func id<Record>(_ column: Int) -> Identifier<Record> { Identifier(int(column)) }

    package func optionalID<Record>(_ column: Int) -> Identifier<Record>? { optionalInt(column).map { Identifier($0) } }

    /// The rate in a column and the next column.
    func rate(_ column: Int) -> RateRule? {
        guard let count = optionalInt(column), let period = optionalInt(column + 1) else { return nil }
        return RateRule(count: count, period: period)
    }
}

/// A destination of the columns of one row, in their order.
@usableFromInline package protocol ColumnWriter {
    mutating func write(_ value: Int64?)
    mutating func write(_ value: String?)
    mutating func write(_ value: [UInt8]?)
}

/// The name and the columns of a table, with the statements that follow from them.
package struct Table: Sendable {
    package struct Column: Sendable {
        /// The types, by their names in PostgreSQL.
        package enum Kind: String, Sendable {
            case bigint, text, bytea
        }

        /// The input of an operation, which is no part of its row in memory.
        package static let input = Column(name: "input", kind: .bytea)

        package let name: String
        package let kind: Kind
    }

    /// The forms of a statement on a set of rows: SQLite executes it once for each row, and PostgreSQL once with arrays.
    package enum Dialect: Sendable {
        case sqlite, postgres
    }

    /// The names of the tables of a store, and of the views by which other drivers of SQLite add operations.
    package static let names = """
        meta queue kind operation input output edge counter key unique history signal worker schedule attempt event \
        add addition replacement change
        """.split(separator: " ").map { "durable_\($0)" }

    package let name: String
    /// The columns. Those of the primary key are the first.
    package let columns: [Column]
    private let keys: Int

    /// - Parameters:
    ///   - keys: The number of columns of the primary key.
    ///   - columns: The names, separated by spaces, with the types of those that are not numbers.
    init(_ name: String, keys: Int, _ columns: String) {
        (self.name, self.keys) = (name, keys)
        self.columns = columns.split(separator: " ").map { column in
            let parts = column.split(separator: ":").map(String.init)
            return Column(name: parts[0], kind: parts.count > 1 ? Column.Kind(rawValue: parts[1]) ?? .text : .bigint)
        }
    }

    /// The names of the columns, separated by commas.
    package var list: String { Self.joined(columns.map(\.name)) }

    private static func joined(_ parts: [String]) -> String { parts.joined(separator: ", ") }

    /// Returns the arrays of the columns, and of further columns, as parameters of PostgreSQL.
    private func arrays(_ more: [Column]) -> String {
        Self.joined((columns + more).enumerated().map { "$\($0 + 1)::\($1.kind)[]" })
    }

    /// Returns the statement that inserts rows.
    ///
    /// - Parameter more: Further columns, whose values follow.
    package func insertion(_ dialect: Dialect, more: [Column] = []) -> String {
        let names = Self.joined((columns + more).map(\.name))
        switch dialect {
        case .sqlite:
            let marks = Self.joined((1...columns.count + more.count).map { "?\($0)" })
            return "INSERT INTO main.\(name)(\(names)) VALUES (\(marks))"
        case .postgres: return "INSERT INTO @.\(name)(\(names)) SELECT * FROM unnest(\(arrays(more)))"
        }
    }

    /// Returns the statement that inserts rows, or updates stored rows with their keys.
    ///
    /// - Parameter changes: The new values of columns, in place of the values of all columns.
    package func upsert(_ dialect: Dialect, changing changes: [(column: String, value: String)] = []) -> String {
        let names = columns.dropFirst(keys).map(\.name)
        let values = Dictionary(uniqueKeysWithValues: changes.map { ($0.column, $0.value) })
        let sets = names.map { "\($0) = \(values[$0] ?? "excluded.\($0)")" }
        return """
            \(insertion(dialect)) ON CONFLICT (\(Self.joined(columns.prefix(keys).map(\.name)))) \
            DO UPDATE SET \(Self.joined(sets))
            """
    }

    /// Returns the statement that updates all columns of stored rows.
    package func update(_ dialect: Dialect) -> String {
        let changed = columns.dropFirst().map(\.name)
        switch dialect {
        case .sqlite:
            let sets = changed.enumerated().map { "\($1) = ?\($0 + 2)" }
            return "UPDATE main.\(name) SET \(Self.joined(sets)) WHERE \(columns[0].name) = ?1"
        case .postgres:
            return """
                UPDATE @.\(name) SET \(Self.joined(changed.map { "\($0) = new.\($0)" })) \
                FROM unnest(\(arrays([]))) AS new(\(list)) WHERE \(name).\(columns[0].name) = new.\(columns[0].name)
                """
        }
    }
}
