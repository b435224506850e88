import OperationsDurable

extension Row {
    static let addOneByOne = Row(
        number: 1, question: "add one by one from 16 tasks", small: [10_000], full: [10_000]
    ) { backend, size in
        let count = size / 16 * 16
        return try await compared(backend, count, atLeast: 0.4) { bare in
            try await ContinuousClock().measure { try await bare.add(count, batch: 16) }
        } store: { queue in
            try await ContinuousClock().measure {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<16 {
                        group.addTask { for _ in 0..<count / 16 { try await queue.add(Nothing()) } }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    static let addInBatches = Row(
        number: 2, question: "add in batches of 256", small: [50_000], full: [100_000]
    ) { backend, count in
        try await compared(backend, count, atLeast: 0.5) { bare in
            try await ContinuousClock().measure { try await bare.add(count, batch: 256) }
        } store: { queue in
            try await ContinuousClock().measure { try await queue.fill(count) }
        }
    }

    static let addFromOneTask = Row(
        number: 11, question: "add one by one from one task", small: [2_000], full: [5_000]
    ) { backend, count in
        try await compared(backend, count, atLeast: 0.3) { bare in
            try await ContinuousClock().measure { try await bare.add(count, batch: 1) }
        } store: { queue in
            try await ContinuousClock().measure { for _ in 0..<count { try await queue.add(Nothing()) } }
        }
    }

    /// Measures the bare loop and the store three times, in turns, and compares the medians.
    static func compared(
        _ backend: any Backend, _ count: Int, atLeast bar: Double, bare: (any BareLoop) async throws -> Duration,
        store: (DurableQueue) async throws -> Duration
    ) async throws -> [Measurement] {
        var (bareTimes, times): ([Duration], [Duration]) = ([], [])
        for _ in 0..<3 {
            bareTimes.append(try await bare(try await backend.newBareLoop()))
            times.append(try await store(DurableQueue("q", in: try await backend.newStore())))
        }
        return [Measurement(count, in: times.sorted()[1], bareTime: bareTimes.sorted()[1], atLeast: bar)]
    }
}
