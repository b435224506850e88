import BenchmarkReport
import Dispatch

extension Row {
    /// The share of all cores that computing operations get.
    static func compute(_ scale: Scale) -> Row {
        let (long, short) = (scale.pick(full: 2_000, quick: 200), scale.pick(full: 200_000, quick: 20_000))
        return Row(
            number: 11, question: "real work",
            lines: [
                Line(
                    work: "\(long.grouped) operations that compute for 1 ms, against plain threads", unit: .percent,
                    entries: entries(long, of: 1_000_000), bars: [.atLeast(98, .percent)],
                    moonshots: [.atLeast(99.5, .percent)]),
                Line(
                    work: "\(short.grouped) operations that compute for 0.5 µs, against plain threads", unit: .percent,
                    entries: entries(short, of: 500)),
            ])
    }
}

private func entries(_ count: Int, of nanoseconds: Int) -> [Entry] {
    [
        .queues(OperationsQueues.self) { computing(OperationsQueues.self, count, of: nanoseconds) },
        .queues(FoundationQueues.self) { computing(FoundationQueues.self, count, of: nanoseconds) },
        Entry(contender: .dispatch) {
            efficiency(of: count, nanoseconds) { DispatchQueues.run(count, of: $0, on: .global()) }
        },
        Entry(contender: .taskGroup) { efficiency(of: count, nanoseconds) { TaskGroups.run(count, of: $0) } },
        Entry(contender: .oneTBB) { efficiency(of: count, nanoseconds) { OneTBB.run(count, of: $0) } },
    ]
}

private func computing<System: OperationSystem>(_: System.Type, _ count: Int, of nanoseconds: Int) -> Sample {
    let queue = System.queue(width: nil)
    return efficiency(of: count, nanoseconds) { block in
        for _ in 0..<count { System.add(System.operation(block), to: queue) }
        System.waitUntilIdle(queue)
    }
}

/// Compares `run`, which calls the block `count` times, with one plain thread per core.
///
/// The plain threads do half of the work before `run` and half after it. A gradual change of the machine's speed therefore
/// affects both equally.
private func efficiency(of count: Int, _ nanoseconds: Int, _ run: (@escaping @Sendable () -> Void) -> Void) -> Sample {
    let tally = Tally()
    let rounds = Computation.roundsInAMillisecond * nanoseconds / 1_000_000
    let block: @Sendable () -> Void = { if Computation.result(of: rounds) != 0 { tally.add() } }
    let clock = ContinuousClock()
    var ideal = clock.measure { onEveryCore(times: count / 2, block) }
    let measured = clock.measure { run(block) }
    ideal += clock.measure { onEveryCore(times: count - count / 2, block) }
    tally.check(2 * count)
    return Sample(figure: 100 * (ideal / measured))
}
