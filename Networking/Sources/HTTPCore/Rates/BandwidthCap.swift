/// A limit on the bytes per second of several users together. The type is a value that has no clock. The caller passes
/// times in nanoseconds of one clock that never goes back.
///
/// The users share the limit in proportion to bytes, not to requests. The next user is the waiting user that has
/// received the fewest bytes, so that larger pieces bring no advantage. The other users get the share that a user does
/// not use. A user gains no credit while it is absent.
///
///     (away) ──► request ──► waiting ──► granted ──► (away)
///                               └──► withdraw ──────────▲
///
/// `granted` grants a request when the credit covers all of its bytes, and chooses the next user only at that moment. A
/// user that has just received a small piece can therefore request again in time for the next choice.
package struct BandwidthCap<User: Hashable & Sendable>: Sendable {
    /// The limit in bytes per second, or nil for no limit.
    package private(set) var rate: UInt64?
    /// The available bytes in billionths of a byte, so that the arithmetic never rounds.
    private var credit: Int128 = 0
    private var lastRefill: UInt64?
    private var waiting: [Request] = []
    /// The bytes that each user has received, counted from `level` at the time of its first request.
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

    /// The number of bytes to request at a time, so that each wait takes about 50 ms.
    package var piece: Int { rate.map { Int(min(max($0 / 20, 1), 65536)) } ?? 65536 }

    /// The number of waiting requests.
    package var waitingCount: Int { waiting.count }

    /// Changes the rate, also for waiting requests. Nil removes the limit.
    package mutating func setRate(_ new: UInt64?, at now: UInt64) {
        refill(now)
        rate = Self.bounded(new)
        credit = min(credit, mostCredit)
    }

    /// Adds a request of a user. `granted` returns the user when its bytes may pass.
    ///
    /// - Precondition: The user has no waiting request.
    package mutating func request(_ bytes: Int, for user: User, at now: UInt64) {
        precondition(!waiting.contains { $0.user == user }, "A user can have only one waiting request")
        refill(now)
        if waiting.isEmpty { served = served.filter { $0.value > level } }
        waiting.append(
            Request(user: user, bytes: max(bytes, 0), start: max(level, served[user] ?? 0), arrival: arrivals))
        arrivals += 1
    }

    /// Returns the users whose requests are granted now, in order, and removes their requests.
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

    /// Returns the time of the next grant if nothing changes, or nil if no request waits.
    package func nextGrant(after now: UInt64) -> UInt64? {
        guard let index = next else { return nil }
        let start = max(lastRefill ?? now, now)
        guard let rate else { return start }
        let missing = waiting[index].cost - credit(at: start)
        let wait = max((missing + Int128(rate) - 1) / Int128(rate), 0)
        return start + UInt64(min(wait, Int128(UInt64.max - start)))
    }

    /// Removes a user that was cancelled or is finished.
    package mutating func withdraw(_ user: User, at now: UInt64) {
        refill(now)
        waiting.removeAll { $0.user == user }
        served[user] = nil
        credit = min(credit, mostCredit)
    }

    /// The index of the waiting request whose user has received the fewest bytes. The earliest request wins among
    /// equals.
    private var next: Int? {
        waiting.indices.min { (waiting[$0].start, waiting[$0].arrival) < (waiting[$1].start, waiting[$1].arrival) }
    }

    /// The maximum credit: the largest waiting request and 50 ms of bytes. The reserve prevents a loss when a call
    /// arrives slightly late.
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

    /// Limits the rate, so that the product of rate and time cannot overflow.
    private static func bounded(_ rate: UInt64?) -> UInt64? { rate.map { min(max($0, 1), 1 << 60) } }
}
