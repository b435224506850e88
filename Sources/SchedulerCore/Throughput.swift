import OperationsPrimitives

/// The number of events per second in the last seconds. A plain value. Times are nanoseconds since the beginning.
///
/// Events are counted in whole seconds. The part of the oldest second that lies within the span counts. So a steady rate
/// has the same value at each moment.
public struct Throughput {
    private static let second: UInt64 = 1_000_000_000
    private let span: UInt64
    /// The seconds with events, counted from the beginning.
    private var counts = Ring<(second: UInt64, count: Int)>()

    /// Creates a counter.
    ///
    /// - Parameter span: The number of last seconds that count, at least 1.
    public init(span: UInt64) { self.span = span }

    public mutating func note(at time: UInt64) {
        let second = time / Self.second
        if let last = counts.last, last.second >= second {
            counts[counts.count - 1].count += 1
        } else {
            counts.append((second, 1))
        }
        while let first = counts.first, first.second + span < second { _ = counts.popFirst() }
    }

    /// Returns the events per second in the last seconds, or since the beginning if that is shorter. O(span).
    public func perSecond(at time: UInt64) -> Double {
        guard time > 0 else { return 0 }
        let second = time / Self.second
        let elapsedPart = Double(time % Self.second) / Double(Self.second)
        var sum = 0.0
        for index in 0..<counts.count {
            let (own, count) = counts[index]
            if own + span > second { sum += Double(count) }
            if own + span == second { sum += Double(count) * (1 - elapsedPart) }
        }
        return sum / min(Double(time) / Double(Self.second), Double(span))
    }
}
