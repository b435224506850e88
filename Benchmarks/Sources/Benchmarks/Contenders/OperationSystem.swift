/// The operation queues of a library. The work of a row is written once and compiled for both libraries.
protocol OperationSystem: SendableMetatype {
    associatedtype Queue: Sendable
    associatedtype Operation: Sendable

    static var contender: Contender { get }

    /// Creates a queue with the default concurrency limit, or with the given limit.
    static func queue(width: Int?) -> Queue
    /// Creates a block operation.
    static func operation(_ block: @escaping @Sendable () -> Void) -> Operation
    static func add(_ operation: Operation, to queue: Queue)
    static func add(_ operations: [Operation], to queue: Queue)
    static func make(_ operation: Operation, dependOn dependency: Operation)
    static func suspend(_ queue: Queue)
    static func resume(_ queue: Queue)
    static func waitUntilFinished(_ operation: Operation)
    static func waitUntilIdle(_ queue: Queue)
    static func cancelAll(_ queue: Queue)
    static func setPriority(_ priority: Priority, of operation: Operation)
}

/// The priorities of both libraries, as their raw values.
enum Priority: Int, CaseIterable {
    case veryLow = -8
    case low = -4
    case normal = 0
    case high = 4
    case veryHigh = 8
}

extension Entry {
    /// A measurement with the operation queues of one library.
    static func queues<System: OperationSystem>(
        _ system: System.Type, repetitions: Int = .max, isInChild: Bool = false,
        warmUps: Int = 0, _ measure: @escaping @Sendable () -> Sample
    ) -> Entry {
        Entry(
            contender: system.contender, repetitions: repetitions, isInChild: isInChild, warmUps: warmUps,
            measure: measure)
    }
}
