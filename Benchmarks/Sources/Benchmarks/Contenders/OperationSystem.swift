/// Operation queues as two libraries have them: the work of a row is written once and compiled for each.
protocol OperationSystem: SendableMetatype {
    associatedtype Queue: Sendable
    associatedtype Operation: Sendable

    static var contender: Contender { get }

    /// A queue of the default width, or of the width given.
    static func queue(width: Int?) -> Queue
    /// A block operation.
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

/// The priorities that both libraries have, as their raw values.
enum Priority: Int, CaseIterable {
    case veryLow = -8
    case low = -4
    case normal = 0
    case high = 4
    case veryHigh = 8
}

extension Entry {
    /// A measurement in operation queues of one of the two libraries.
    static func queues<System: OperationSystem>(
        _ system: System.Type, repetitions: Int = .max, isInChild: Bool = false,
        _ measure: @escaping @Sendable () -> Sample
    ) -> Entry {
        Entry(contender: system.contender, repetitions: repetitions, isInChild: isInChild, measure: measure)
    }
}
