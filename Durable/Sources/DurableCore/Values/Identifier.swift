/// A number that the database assigns to one record of a table. The database never assigns a number twice.
public struct Identifier<Record>: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    /// The number.
    public let rawValue: Int64

    /// Creates an identifier from a number that the database has assigned.
    public init(_ rawValue: Int64) { self.rawValue = rawValue }

    /// Decodes a plain number.
    public init(from decoder: any Decoder) throws { rawValue = try decoder.singleValueContainer().decode(Int64.self) }

    /// Encodes a plain number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }

    /// Returns whether the database assigned the first identifier earlier.
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

    public var description: String { "\(rawValue)" }
}

/// The identifier of an operation.
public typealias OperationID = Identifier<OperationRow>
/// The identifier of a queue.
public typealias QueueID = Identifier<QueueRow>
/// The identifier of a stable operation name.
public typealias KindID = Identifier<KindRow>
/// The identifier of one registration of a worker. A worker that lost its leases registers again.
public typealias WorkerID = Identifier<WorkerRow>

/// A record of the names of operations.
public struct KindRow: Sendable, Hashable {}
