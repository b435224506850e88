import Glibc

/// Takes the time of what this process does, and its own processor time meanwhile.
struct Stopwatch {
    private let start = ContinuousClock.now
    private let processorTime = Self.processorTime

    /// Since it was made.
    var sample: Sample {
        let time = start.duration(to: .now)
        return [.time: time.milliseconds, .processorTime: (Self.processorTime - processorTime).milliseconds]
    }

    private static var processorTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}

extension Duration {
    var milliseconds: Double { self / .milliseconds(1) }
}
