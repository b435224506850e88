#if Networking
/// How many bytes a second pass, measured over the last seconds (rule R13). A plain value; times are nanoseconds of any one
/// clock. Its memory and the cost of each call are constant: bytes are counted by slices of the window.
package struct BandwidthMeter: Sendable {
    /// Nanoseconds.
    package let window: UInt64
    private let slice: UInt64
    private let slices: UInt64
    /// Of the slices before the latest; empty before there is a second one, which short transfers never see.
    private var counts: [UInt64] = []
    /// The slice that counts now, from the clock's zero on, and its bytes.
    private var (latest, latestCount): (UInt64, UInt64) = (0, 0)
    private var start: UInt64?
    package private(set) var total: UInt64 = 0

    package init(window: UInt64 = 5_000_000_000, slices: Int = 50) {
        precondition(slices > 0 && window >= UInt64(slices), "A window has slices of a nanosecond at least")
        slice = window / UInt64(slices)
        self.window = slice * UInt64(slices)
        self.slices = UInt64(slices)
    }

    package mutating func record(_ bytes: Int, at now: UInt64) {
        advance(to: now)
        latestCount += UInt64(bytes)
        total += UInt64(bytes)
    }

    /// Bytes a second over the window, or over the time since the first byte if that is shorter. Zero before, and after a
    /// window without bytes.
    package mutating func rate(at now: UInt64) -> Double {
        guard start != nil else { return 0 }
        advance(to: now)
        // What has been measured reaches from here: the oldest slice begins here, all but the current one are whole.
        let oldest = latest >= slices ? (latest - slices + 1) * slice : 0
        let from = max(oldest, start ?? now)
        // Right after the start there is no time yet to divide by.
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
#endif
