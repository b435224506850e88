import Foundation

/// The offsets of a time zone from UTC, in seconds.
///
/// All times are whole seconds since 1970. A local time is the time of the wall clock in the zone, read as UTC.
struct ZoneOffsets: Sendable, Hashable {
    private let zone: TimeZone

    /// - Parameter name: The identifier in the database of time zones, such as `Europe/Berlin`.
    init?(_ name: String) {
        guard let zone = TimeZone(identifier: name) else { return nil }
        self.zone = zone
    }

    private func offset(at second: Int64) -> Int64 {
        Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second))))
    }

    /// Returns the first matching second after the second.
    func next(of fields: CronFields, after second: Int64) -> Int64? {
        fields.isEveryHour ? nextElapsed(fields, after: second) : nextOnce(fields, after: second)
    }

    /// Each local time counts once: the first of two, and the end of the gap in place of none.
    private func nextOnce(_ fields: CronFields, after second: Int64) -> Int64? {
        var local = second + offset(at: second)
        while let candidate = fields.next(after: local) {
            let next = firstSecond(ofLocal: candidate)
            if next > second { return next }
            // The first of two lies behind: the zone has put its clock back since.
            local = candidate
        }
        return nil
    }

    private func firstSecond(ofLocal local: Int64) -> Int64 {
        // No zone has an offset of a day, and none changes twice within two days.
        let (before, after) = (offset(at: local - Self.day), offset(at: local + Self.day))
        for offset in [max(before, after), min(before, after)] where self.offset(at: local - offset) == offset {
            return local - offset
        }
        return firstChange(from: before, after: local - max(before, after), through: local - min(before, after))
    }

    /// Each instant counts whose local time matches.
    private func nextElapsed(_ fields: CronFields, after second: Int64) -> Int64? {
        var (second, offset) = (second, offset(at: second))
        while let local = fields.next(after: second + offset) {
            let next = local - offset
            // Day by day, because the next time may be months away, with several changes before.
            var end = min(second + Self.day, next)
            while end < next, self.offset(at: end) == offset { (second, end) = (end, min(end + Self.day, next)) }
            if self.offset(at: end) == offset { return next }
            let change = firstChange(from: offset, after: second, through: end)
            (second, offset) = (change - 1, self.offset(at: change))
        }
        return nil
    }

    /// Returns the first second with another offset, between a second with this offset and one with another.
    private func firstChange(from offset: Int64, after start: Int64, through end: Int64) -> Int64 {
        var (low, high) = (start, end)
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if self.offset(at: middle) == offset { low = middle } else { high = middle }
        }
        return high
    }

    private static var day: Int64 { 86_400 }
}
