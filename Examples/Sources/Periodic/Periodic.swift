// Work at a fixed interval. A run that takes longer than the interval delays the next one, and none runs beside another.

import Operations

actor Reports {
    private(set) var runs = 0
    private var isRunning = false

    func run() async {
        precondition(!isRunning)
        isRunning = true
        try? await Task.sleep(for: .milliseconds(3))
        isRunning = false
        runs += 1
    }
}

@main struct Periodic {
    static func main() async {
        let (queue, reports) = (OperationQueue(name: "reports", maxConcurrentOperationCount: 1), Reports())
        let timer = Task {
            var next = ContinuousClock.now
            while !Task.isCancelled {
                // The interval counts from the planned time, so the times do not drift.
                next += .milliseconds(5)
                _ = try? await queue.run(name: "report", timeout: .seconds(1)) { await reports.run() }
                // A run that was late leaves no time to catch up.
                next = max(next, .now)
                try? await Task.sleep(until: next, clock: .continuous)
            }
        }
        while await reports.runs < 5 { try? await Task.sleep(for: .milliseconds(5)) }
        timer.cancel()
        await timer.value
        let report = await queue.shutDown(grace: .seconds(1))
        print("\(await reports.runs) runs; \(report)")
    }
}
