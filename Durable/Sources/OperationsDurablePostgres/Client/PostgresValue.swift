#if Postgres

/// A value in a statement of the application. The server infers the types of texts and numbers from the statement.
public enum PostgresValue: Sendable, Hashable {
    case text(String)
    case int(Int64)
    case double(Double)
    case bool(Bool)
    case bytes([UInt8])

    var isBinary: Bool { if case .bytes = self { true } else { false } }
    /// Whether the value is a text with a zero byte, which PostgreSQL does not store.
    var hasZero: Bool { if case .text(let text) = self { text.utf8.contains(0) } else { false } }
    /// The fixed number of the type; 0 for a type that the server infers.
    var type: UInt32 { isBinary ? 17 : 0 }

    var bytes: [UInt8] {
        switch self {
        case .text(let text): Array(text.utf8)
        case .int(let number): Array("\(number)".utf8)
        case .double(let number): Array("\(number)".utf8)
        case .bool(let flag): Array((flag ? "true" : "false").utf8)
        case .bytes(let bytes): bytes
        }
    }
}

extension PostgresValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    public init(stringLiteral text: String) { self = .text(text) }
    public init(integerLiteral number: Int64) { self = .int(number) }
    public init(floatLiteral number: Double) { self = .double(number) }
    public init(booleanLiteral flag: Bool) { self = .bool(flag) }
}

/// One row of the result of an application's statement.
public struct PostgresRow: Sendable, Hashable {
    /// The names of the columns.
    public let columns: [String]
    private let values: [String?]

    init(_ result: PostgresResult, _ row: Int) {
        columns = (0..<result.columnCount).map { result.name(ofColumn: $0) }
        values = (0..<result.columnCount).map { result.isNull(row, $0) ? nil : result.text(row, $0) }
    }

    /// The text of the value of a column; nil for NULL and for a column that does not exist.
    public subscript(_ column: String) -> String? { columns.firstIndex(of: column).flatMap { values[$0] } }

    /// The text of the value at a position; nil for NULL.
    public subscript(_ position: Int) -> String? { values[position] }

    /// Returns the number of a column; nil for NULL and for other values.
    public func int(_ column: String) -> Int64? { self[column].flatMap { Int64($0) } }

    /// Returns the bytes of a column of type `bytea`; nil for NULL and for other values.
    public func bytes(_ column: String) -> [UInt8]? {
        guard let text = self[column], text.hasPrefix("\\x") else { return nil }
        let digits = Array(text.utf8.dropFirst(2))
        return stride(from: 0, to: digits.count - 1, by: 2).map { index in
            UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) ?? 0
        }
    }
}
#endif
