#if Networking
/// Whose bytes may pass when, so that altogether they are at most so many a second (rule R13). A plain value; times are
/// nanoseconds of any one clock, which never goes back.
///
/// Several users share it in proportion to bytes, not to turns: of those who wait, whoever has had the least is next, so
/// large pieces gain nothing; what a user leaves goes to the others, and who was away has saved nothing up.
///
///     (away) ──► request ──► waiting ──► granted ──► (away)
///                               └──► withdraw ──────────▲
///
/// Bytes pass when there is credit for all of them. Who is next is chosen then and not before: whoever has just been
/// granted a small piece is back in time for the next choice, and not behind all who waited meanwhile.
package struct BandwidthCap<User: Hashable & Sendable>: Sendable {
    /// Bytes a second; nil for no cap.
    package private(set) var rate: UInt64?
    /// The bytes there are, in parts of which a byte has a billion, so that nothing is rounded.
    private var credit: Int128 = 0
    private var lastRefill: UInt64?
    private var waiting: [Request] = []
    /// What each has had, in bytes, counted from what the one had who was granted last when it came.
    private var served: [User: UInt64] = [:]
    private var level: UInt64 = 0
    private var arrivals: UInt64 = 0

    private struct Request: Sendable {
        let user: User
        let bytes: Int
        let start: UInt64
        let arrival: UInt64

        var cost: Int128 { Int128(bytes) * 1_000_000_000 }
    }

    package init(rate: UInt64?) { self.rate = Self.bounded(rate) }

    /// How many bytes to ask for at a time so that waits are about 50 ms long.
    package var piece: Int { rate.map { Int(min(max($0 / 20, 1), 65536)) } ?? 65536 }

    /// How many wait.
    package var waitingCount: Int { waiting.count }

    /// Changes the rate, also for those who wait. Nil lifts the cap.
    package mutating func setRate(_ new: UInt64?, at now: UInt64) {
        refill(now)
        rate = Self.bounded(new)
        credit = min(credit, mostCredit)
    }

    /// Somebody wants to let bytes pass; `granted` says when it may. One request per user at a time.
    package mutating func request(_ bytes: Int, for user: User, at now: UInt64) {
        precondition(!waiting.contains { $0.user == user }, "One request per user at a time")
        refill(now)
        if waiting.isEmpty { served = served.filter { $0.value > level } }
        waiting.append(
            Request(user: user, bytes: max(bytes, 0), start: max(level, served[user] ?? 0), arrival: arrivals))
        arrivals += 1
    }

    /// Who may go on now, in this order. Each is told once.
    package mutating func granted(at now: UInt64) -> [User] {
        refill(now)
        var granted: [User] = []
        while let index = next, rate == nil || credit >= waiting[index].cost {
            let request = waiting.remove(at: index)
            if rate != nil { credit -= request.cost }
            level = max(level, request.start)
            let (sum, overflows) = request.start.addingReportingOverflow(UInt64(request.bytes))
            served[request.user] = overflows ? .max : sum
            granted.append(request.user)
        }
        return granted
    }

    /// When `granted` has somebody next, if nothing changes; nil if nobody waits.
    package func nextGrant(after now: UInt64) -> UInt64? {
        guard let index = next else { return nil }
        let start = max(lastRefill ?? now, now)
        guard let rate else { return start }
        let missing = waiting[index].cost - credit(at: start)
        let wait = max((missing + Int128(rate) - 1) / Int128(rate), 0)
        return start + UInt64(min(wait, Int128(UInt64.max - start)))
    }

    /// A user waits no more, being cancelled or done.
    package mutating func withdraw(_ user: User, at now: UInt64) {
        refill(now)
        waiting.removeAll { $0.user == user }
        served[user] = nil
        credit = min(credit, mostCredit)
    }

    /// Who has had the least, of these the first.
    private var next: Int? {
        waiting.indices.min { (waiting[$0].start, waiting[$0].arrival) < (waiting[$1].start, waiting[$1].arrival) }
    }

    /// Enough for the largest that waits, and 50 ms' worth: so nothing is lost when somebody is called a little late.
    private var mostCredit: Int128 {
        Int128(rate ?? 0) * 50_000_000 + (waiting.map(\.cost).max() ?? 0)
    }

    private func credit(at now: UInt64) -> Int128 {
        guard let rate, let last = lastRefill, now > last else { return credit }
        return min(credit + Int128(now - last) * Int128(rate), mostCredit)
    }

    private mutating func refill(_ now: UInt64) {
        credit = credit(at: now)
        lastRefill = max(now, lastRefill ?? now)
    }

    /// So that no product of rate and time overflows.
    private static func bounded(_ rate: UInt64?) -> UInt64? { rate.map { min(max($0, 1), 1 << 60) } }
}
#endif
