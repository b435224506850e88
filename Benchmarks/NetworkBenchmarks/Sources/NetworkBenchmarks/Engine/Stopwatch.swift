import Glibc

/// A stopwatch of the time and the processor time of this process.
struct Stopwatch {
    private let start = ContinuousClock.now
    private let processorTime = Self.processorTime

    /// The measurements since the stopwatch was created.
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
