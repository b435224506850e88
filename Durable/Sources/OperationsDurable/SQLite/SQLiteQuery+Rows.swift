import DurableCore

extension SQLiteQuery: ColumnReader {
    /// Binds the columns of the table of a row.
    func bind(_ row: some StoredRow) {
        var writer = SQLiteWriter(query: self)
        row.write(to: &writer)
    }

    func bind(_ index: Int32, _ instant: DurableInstant?) { bind(index, instant?.microseconds) }

    func bind(_ now: DurableInstant, _ limit: Int) {
        bind(1, now)
        bind(2, Int64(limit))
    }
}

/// The parameters of a statement, one after the other.
struct SQLiteWriter: ColumnWriter {
    let query: SQLiteQuery
    private var index: Int32 = 0

    init(query: SQLiteQuery) { self.query = query }

    mutating func write(_ value: Int64?) { query.bind(next(), value) }

    mutating func write(_ value: String?) { query.bind(next(), value) }

    mutating func write(_ value: [UInt8]?) { query.bind(next(), value) }

    private mutating func next() -> Int32 {
        index += 1
        return index
    }
}
