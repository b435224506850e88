/// The time between two looks at the queues.
///
/// A look at 100,000 operations takes a few ten milliseconds. The pauses keep all looks together below a twentieth of one processor.
package enum SurveyPace {
    package static let shortest = 0.5

    /// - Parameter cost: The seconds that the last look took.
    /// - Returns: Seconds until the next look begins, from the end of the last one.
    package static func pause(afterCost cost: Double) -> Double { max(shortest, 20 * cost) }
}

/// The number of starts of a queue at some times, and the rate that follows.
package struct RateWindow: Sendable {
    private var samples: [(time: Double, count: Int)] = []
    private let span: Double

    package init(span: Double) { self.span = span }

    package mutating func note(_ count: Int, at time: Double) {
        samples.append((time, count))
        // The oldest sample that is kept lies at the beginning of the span or before it.
        while samples.count > 2, samples[1].time <= time - span { samples.removeFirst() }
    }

    /// Starts per second; nil before two samples.
    package var perSecond: Double? {
        guard let first = samples.first, let last = samples.last, last.time > first.time else { return nil }
        return max(0, Double(last.count - first.count)) / (last.time - first.time)
    }
}
