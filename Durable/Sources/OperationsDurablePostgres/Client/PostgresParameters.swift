#if Postgres

/// The parameters of one execution, in the binary format of PostgreSQL.
struct PostgresParameters {
    private(set) var bytes: [UInt8] = []
    /// The end of each parameter in `bytes`, and whether the parameter is null.
    private(set) var entries: [(end: Int, isNull: Bool)] = []

    init() {}

    mutating func append(_ value: Int64?) {
        if let value { bytes.append(bigEndian: value) }
        entries.append((bytes.count, value == nil))
    }

    mutating func append(_ value: String?) {
        if let value { bytes.append(text: value) }
        entries.append((bytes.count, value == nil))
    }

    mutating func append(_ value: [UInt8]?) {
        if let value { bytes += value }
        entries.append((bytes.count, value == nil))
    }

    mutating func append(_ array: PostgresArray) {
        array.write(to: &bytes)
        entries.append((bytes.count, false))
    }
}

/// One array of a parameter, in the binary format. An array of a set makes the set one statement.
struct PostgresArray {
    /// The type of the elements, by the fixed number of the type in PostgreSQL.
    enum Element: Int32 {
        case bigint = 20
        case text = 25
        case bytea = 17
    }

    let element: Element
    private var count: Int32 = 0
    private var hasNull = false
    private var elements: [UInt8] = []

    init(_ element: Element) { self.element = element }

    init(_ values: some Sequence<Int64>) { self.init(.bigint, values) { $0.append($1) } }

    init<Value>(_ element: Element, _ values: some Sequence<Value>, _ append: (inout Self, Value) -> Void) {
        self.element = element
        for value in values { append(&self, value) }
    }

    mutating func append(_ value: Int64?) {
        guard let value else { return appendNull() }
        elements.append(bigEndian: Int32(8))
        elements.append(bigEndian: value)
        count += 1
    }

    mutating func append(_ value: String?) {
        guard let value else { return appendNull() }
        elements.append(bigEndian: Int32(value.utf8.count))
        elements.append(text: value)
        count += 1
    }

    mutating func append(_ value: [UInt8]?) {
        guard let value else { return appendNull() }
        elements.append(bigEndian: Int32(value.count))
        elements += value
        count += 1
    }

    private mutating func appendNull() {
        elements.append(bigEndian: Int32(-1))
        hasNull = true
        count += 1
    }

    fileprivate func write(to bytes: inout [UInt8]) {
        bytes.append(bigEndian: Int32(count == 0 ? 0 : 1))
        bytes.append(bigEndian: Int32(hasNull ? 1 : 0))
        bytes.append(bigEndian: element.rawValue)
        if count == 0 { return }
        bytes.append(bigEndian: count)
        bytes.append(bigEndian: Int32(1))
        bytes += elements
    }
}

extension [UInt8] {
    fileprivate mutating func append(bigEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    /// Appends a text. PostgreSQL stores no NUL character: the substitute character of ASCII takes its place.
    fileprivate mutating func append(text: String) {
        let start = count
        append(contentsOf: text.utf8)
        for index in start..<count where self[index] == 0 { self[index] = 0x1A }
    }
}
#endif
