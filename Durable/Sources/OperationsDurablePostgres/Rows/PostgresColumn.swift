#if Postgres
import DurableCore

extension PostgresRecord: ColumnReader {}

extension PostgresParameters: ColumnWriter {
    mutating func write(_ value: Int64?) { append(value) }

    mutating func write(_ value: String?) { append(value) }

    mutating func write(_ value: [UInt8]?) { append(value) }
}

/// The columns of a set of rows, as one array each.
struct PostgresArrays: ColumnWriter {
    private(set) var arrays: [PostgresArray]
    private var next = 0

    init<Row: StoredRow>(of rows: some Collection<Row>) {
        arrays = Row.table.columns.map { PostgresArray(PostgresArray.Element($0.kind)) }
        for row in rows {
            next = 0
            row.write(to: &self)
        }
    }

    mutating func write(_ value: Int64?) {
        arrays[next].append(value)
        next += 1
    }

    mutating func write(_ value: String?) {
        arrays[next].append(value)
        next += 1
    }

    mutating func write(_ value: [UInt8]?) {
        arrays[next].append(value)
        next += 1
    }
}

extension PostgresArray.Element {
    fileprivate init(_ kind: Table.Column.Kind) {
        switch kind {
        case .bigint: self = .bigint
        case .text: self = .text
        case .bytea: self = .bytea
        }
    }
}

/// One column of a set that is no set of rows, which becomes one array.
struct PostgresColumn<Row> {
    private enum Value {
        case int((Row) -> Int64?)
        case text((Row) -> String?)
        case bytes((Row) -> [UInt8]?)
    }

    private let value: Value

    init(int value: @escaping (Row) -> Int64?) { self.value = .int(value) }

    init(text value: @escaping (Row) -> String?) { self.value = .text(value) }

    init(bytes value: @escaping (Row) -> [UInt8]?) { self.value = .bytes(value) }

    func array(of rows: some Collection<Row>) -> PostgresArray {
        switch value {
        case .int(let value): PostgresArray(.bigint, rows.lazy.map(value)) { $0.append($1) }
        case .text(let value): PostgresArray(.text, rows.lazy.map(value)) { $0.append($1) }
        case .bytes(let value): PostgresArray(.bytea, rows.lazy.map(value)) { $0.append($1) }
        }
    }
}
#endif
