import BenchmarkReport
import Dispatch
import Glibc

extension Row {
    /// The number of sleeping operations that a queue with the default limit runs at a time.
    static func blocking(_ scale: Scale) -> Row {
        let count = 200
        let pause: UInt32 = 50_000
        // With 64 operations at a time, four rounds are necessary.
        let atBest = Double((count + 63) / 64) * Double(pause) / 1_000
        return Row(
            number: 12, question: "blocking work",
            lines: [
                Line(
                    work: "\(count) operations that sleep 50 ms (64 at a time: \(atBest.brief) ms)",
                    unit: .milliseconds,
                    entries: [
                        .queues(OperationsQueues.self) { sleeping(OperationsQueues.self, count, pause) },
                        .queues(FoundationQueues.self) { sleeping(FoundationQueues.self, count, pause) },
                        Entry(contender: .dispatch) { sleepingBlocks(count, pause) },
                    ],
                    bars: [.atMost(atBest * 1.1, .milliseconds)], moonshots: [.atMost(atBest * 1.03, .milliseconds)])
            ])
    }
}

private func sleeping<System: OperationSystem>(_: System.Type, _ count: Int, _ pause: UInt32) -> Sample {
    let queue = System.queue(width: nil)
    let time = ContinuousClock().measure {
        for _ in 0..<count { System.add(System.operation { usleep(pause) }, to: queue) }
        System.waitUntilIdle(queue)
    }
    return Sample(figure: time / .milliseconds(1))
}

private func sleepingBlocks(_ count: Int, _ pause: UInt32) -> Sample {
    let time = ContinuousClock().measure {
        DispatchQueues.run(count, of: { usleep(pause) }, on: .global())
    }
    return Sample(figure: time / .milliseconds(1))
}
