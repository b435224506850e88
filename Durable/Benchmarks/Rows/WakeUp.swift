import OperationsDurable

extension Row {
    static let wakeUp = Row(
        number: 7, question: "wake-up: from add to the start in another idle process", small: [100], full: [500]
    ) { backend, count in
        let address = try await backend.newAddress()
        let queue = DurableQueue("q", in: try await backend.open(address))
        let worker = try WorkerProcess(backend, address, queue: "q", limit: 16)
        defer { worker.stop() }
        _ = try await queue.add(Stamp()).value
        var times: [Double] = []
        for number in 0..<count {
            // Different pauses, so that the additions do not follow the pace of a poll.
            try await Task.sleep(for: .milliseconds(20) + .microseconds(number * 137 % 8_000))
            let start = monotonicNanoseconds()
            let end = try await queue.add(Stamp()).value
            times.append(Double(end - start) / 1_000_000)
        }
        times.sort()
        return [
            Measurement(
                "median", count: count, value: times[count / 2], unit: "ms", bar: .atMost(backend.hasOneWriter ? 10 : 5)
            ),
            Measurement("99 %", count: count, value: times[count * 99 / 100], unit: "ms"),
        ]
    }
}
