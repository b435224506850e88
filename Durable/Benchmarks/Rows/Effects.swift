import GRDB
import OperationsDurable
import OperationsDurablePostgres

extension Row {
    /// Each operation records a step, and completes in the transaction of its effect. The bare loop makes one transaction for
    /// each effect, from three connections.
    static let effects = Row(
        number: 10, question: "effects exactly once: a step and complete(in:), limit 16", small: [3_000], full: [10_000]
    ) { backend, count in
        let bare = try await backend.newBareLoop()
        let bareTime = try await ContinuousClock().measure { try await bare.write(count, connections: 3) }
        var measurements: [Measurement] = []
        for processes in [1, 3] {
            let address = try await backend.newAddress()
            let store = try await backend.open(address)
            try await backend.createEffects(in: store)
            let queue = DurableQueue("q", in: store)
            try await queue.suspend()
            var graph = DurableGraph()
            for number in 0..<count { try graph.add(Effect(number: number), to: queue) }
            _ = try await store.add(graph)
            let workers = try (0..<processes).map { _ in
                try WorkerProcess(backend, address, queue: "q", limit: 16)
            }
            let time = try await ContinuousClock().measure {
                try await queue.resume()
                try await queue.waitForSucceeded(count)
            }
            for worker in workers { worker.stop() }
            var measurement = Measurement(count, in: time, bareTime: bareTime, atLeast: 0.3)
            measurement.detail = processes == 1 ? "1 worker" : "\(processes) workers"
            if processes == 1 { measurement.bar = .none }
            measurements.append(measurement)
        }
        return measurements
    }

    /// Transactions of the application with one statement, one after the other.
    static let transactions = Row(
        number: 12, question: "transactions of the application, one after the other", small: [1_000], full: [5_000]
    ) { backend, count in
        try await compared(backend, count, atLeast: 0.3) { bare in
            try await ContinuousClock().measure { try await bare.write(count, connections: 1) }
        } store: { queue in
            try await backend.createEffects(in: queue.store)
            return try await ContinuousClock().measure {
                for number in 0..<count { try await write(number, to: queue.store) }
            }
        }
    }

    private static func write(_ number: Int, to store: any DurableStore) async throws {
        if let store = store as? SQLiteStore {
            try await store.transaction {
                try $0.execute(sql: "INSERT INTO effect VALUES (?)", arguments: [number])
            }
        }
        #if Postgres
        if let store = store as? PostgresStore {
            try await store.transaction {
                _ = try $0.execute("INSERT INTO effect VALUES ($1)", [.int(Int64(number))])
            }
        }
        #endif
    }
}
