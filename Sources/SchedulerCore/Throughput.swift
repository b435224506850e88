/// How many events there were a second, over the last seconds. A plain value; times are nanoseconds since the beginning.
///
/// Events are counted by the second. The oldest second counts in part: as much of it as lies within the span. So a steady
/// rate reads the same at each moment.
public struct Throughput {
    private static let second: UInt64 = 1_000_000_000
    private let span: UInt64
    /// The seconds with events, counted from the beginning.
    private var counts = Ring<(second: UInt64, count: Int)>()

    /// - Parameter span: How many of the last seconds count, at least 1.
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

    /// Events a second in the last seconds, or since the beginning if that is less long ago. O(span).
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
