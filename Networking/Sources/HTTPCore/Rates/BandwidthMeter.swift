/// A measurement of bytes per second over the last seconds. The type is a value that has no clock. The caller passes
/// times in nanoseconds of one clock.
///
/// Memory use and the cost of each call are constant, because the meter counts bytes by slices of the window.
package struct BandwidthMeter: Sendable {
    /// The length of the window in nanoseconds.
    package let window: UInt64
    private let slice: UInt64
    private let slices: UInt64
    /// The counts of the slices before the latest one. The array is empty until the second slice begins, so that short
    /// transfers allocate nothing.
    private var counts: [UInt64] = []
    /// The number of the current slice, counted from the clock's zero, and the bytes in that slice.
    private var (latest, latestCount): (UInt64, UInt64) = (0, 0)
    private var start: UInt64?
    /// The total number of recorded bytes.
    package private(set) var total: UInt64 = 0

    package init(window: UInt64 = 5_000_000_000, slices: Int = 50) {
        precondition(slices > 0 && window >= UInt64(slices), "Each slice must be at least one nanosecond long")
        slice = window / UInt64(slices)
        self.window = slice * UInt64(slices)
        self.slices = UInt64(slices)
    }

    /// Adds bytes that passed at the time `now`.
    package mutating func record(_ bytes: Int, at now: UInt64) {
        advance(to: now)
        latestCount += UInt64(bytes)
        total += UInt64(bytes)
    }

    /// Returns the bytes per second over the window, or since the first byte if the window is longer. The rate is zero
    /// before the first byte and after a window without bytes.
    package mutating func rate(at now: UInt64) -> Double {
        guard start != nil else { return 0 }
        advance(to: now)
        // The measurement begins at the start of the oldest slice. All slices except the current one are complete.
        let oldest = latest >= slices ? (latest - slices + 1) * slice : 0
        let from = max(oldest, start ?? now)
        // At least one slice, because the time since the first byte can be zero.
        let span = max(max(now, from) - from, slice)
        return Double(counts.reduce(latestCount, +)) * 1e9 / Double(span)
    }

    private mutating func advance(to now: UInt64) {
        let current = now / slice
        guard start != nil else {
            (start, latest) = (now, current)
            return
        }
        guard current > latest else { return }
        if counts.isEmpty || current - latest >= slices {
            counts = Array(repeating: 0, count: Int(slices))
        } else {
            for passed in latest + 1...current { counts[Int(passed % slices)] = 0 }
        }
        if current - latest < slices { counts[Int(latest % slices)] = latestCount }
        latestCount = 0
        latest = current
    }
}
