import Operations

/// Reads properties that are deprecated because of races, without a warning.
protocol QueueSnapshot {
    var listedOperations: [Operations.Operation] { get }
    var countedOperations: Int { get }
}

extension OperationQueue: QueueSnapshot {
    @available(*, deprecated)
    var listedOperations: [Operations.Operation] { operations }

    @available(*, deprecated)
    var countedOperations: Int { operationCount }

    var snapshot: any QueueSnapshot { self }
}
