import OperationsDurable

extension Row {
    /// The rates of the first and of the last tenth of the operations. Another connection has a snapshot from before the first, so that the
    /// database keeps all old versions of rows.
    static let decay = Row(
        number: 13, question: "run beside an idle snapshot, limit 16", small: [20_000], full: [100_000]
    ) { backend, count in
        let address = try await backend.newAddress()
        let queue = DurableQueue("q", in: try await backend.open(address))
        try await queue.fill(count)
        let snapshot = try backend.openSnapshot(of: address)
        defer { withExtendedLifetime(snapshot) {} }
        var times: [Duration] = []
        let start = ContinuousClock.now
        _ = try await queue.measureWithWorker(limit: 16) {
            for share in [1, 9, 10] {
                try await queue.waitForSucceeded(count / 10 * share)
                times.append(ContinuousClock.now - start)
            }
        }
        let rate = { (time: Duration) in Double(count / 10) / (time / .seconds(1)) }
        let (first, last) = (rate(times[0]), rate(times[2] - times[1]))
        return [
            Measurement("first tenth", count: count, value: first, unit: "/s"),
            Measurement(
                "last tenth", count: count, value: last, unit: "/s", score: last / first, "of the first", bar: .none),
        ]
    }
}
