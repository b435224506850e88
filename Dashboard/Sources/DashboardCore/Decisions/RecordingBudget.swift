/// The rule by which a queue's events are recorded.
///
/// Events cost an operation about a microsecond. A queue of tiny operations would feel that, so a burst ends the recording, and
/// the page shows counts only until the queue has become slower.
package struct RecordingBudget: Sendable {
    /// The number of events of a burst, and the number for each second.
    package let burst: Double
    package let rate: Double
    private var left: Double
    private var last: Double

    /// - Parameter now: Seconds of any clock that does not go back.
    package init(burst: Int = 4000, rate: Int = 4000, now: Double) {
        (self.burst, self.rate) = (Double(burst), Double(rate))
        (left, last) = (Double(burst), now)
    }

    /// Notes one event. Returns whether the recording may continue.
    package mutating func spend(now: Double) -> Bool {
        left = min(burst, left + max(0, now - last) * rate) - 1
        last = now
        return left >= 0
    }

    /// Whether a recording that has ended may begin again. Four events an operation, and a margin of two.
    package func mayBegin(startsPerSecond: Double) -> Bool { startsPerSecond * 8 < rate }
}
