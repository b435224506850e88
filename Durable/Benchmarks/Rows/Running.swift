import OperationsDurable

extension Row {
    static let run = Row(
        number: 3, question: "run operations that do nothing, limit 16", small: [20_000], full: [50_000]
    ) { backend, count in
        try await compared(backend, count, atLeast: 0.4) { bare in
            try await bare.add(count, batch: 256)
            return try await ContinuousClock().measure { try await bare.run(count, batch: 16) }
        } store: { queue in
            try await timeToRun(count, in: queue)
        }
    }

    /// Row 3 in worker processes. The bar applies to databases with several writers.
    static let processes = Row(
        number: 4, question: "run in worker processes, limit 16 each", small: [10_000], full: [50_000]
    ) { backend, count in
        var measurements: [Measurement] = []
        for processes in [1, 2, 4] {
            let address = try await backend.newAddress()
            let queue = DurableQueue("q", in: try await backend.open(address))
            try await queue.suspend()
            try await queue.fill(count)
            let workers = try (0..<processes).map { _ in
                try WorkerProcess(backend, address, queue: "q", limit: 16)
            }
            let time = try await ContinuousClock().measure {
                try await queue.resume()
                try await queue.waitForSucceeded(count)
            }
            for worker in workers { worker.stop() }
            let rate = Double(count) / (time / .seconds(1))
            let one = measurements.first?.value ?? rate
            measurements.append(
                Measurement(
                    processes == 1 ? "1 process" : "\(processes) processes", count: count, value: rate, unit: "/s",
                    score: rate / one,
                    "of one process",
                    bar: processes == 1 || backend.hasOneWriter ? .none : .atLeast(1)))
        }
        return measurements
    }

    /// Returns the time to run operations that do nothing with a limit of 16.
    static func timeToRun(_ count: Int, in queue: DurableQueue) async throws -> Duration {
        try await queue.fill(count - 1)
        let last = try await queue.add(Nothing(), priority: .veryLow)
        return try await queue.measureWithWorker(limit: 16) { _ = try await last.outcome }
    }
}
