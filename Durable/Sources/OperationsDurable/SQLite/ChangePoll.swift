import Dispatch

/// A timer that runs while tasks of this process wait for changes of other processes.
final class ChangePoll: Sendable {
    private let interval: Duration
    private let check: @Sendable () -> Void
    private let queue = DispatchQueue(label: "swift-operations-durable.poll")
    private let timer = Locked<(any DispatchSourceTimer)?>(nil)

    init(interval: Duration, check: @escaping @Sendable () -> Void) { (self.interval, self.check) = (interval, check) }

    func setActive(_ isActive: Bool) {
        timer.withLock { timer in
            if isActive, timer == nil {
                let source = DispatchSource.makeTimerSource(queue: queue)
                let period = DispatchTimeInterval.microseconds(Int(clamping: max(1_000, interval.microseconds)))
                source.schedule(deadline: .now() + period, repeating: period, leeway: .milliseconds(1))
                source.setEventHandler { [check] in check() }
                source.activate()
                timer = source
            } else if !isActive {
                timer?.cancel()
                timer = nil
            }
        }
    }
}
