/// Timers that are late, because nothing ran for a while: the process was stopped, its container was paused, or the machine was
/// busy. A plain value. Times are nanoseconds of one clock.
///
/// If all fired at once, a time limit would end an operation whose sleep was over long before the limit. So the earliest timers fire
/// first. The others wait for a turn, in which the resumed code runs.
public struct CatchUp<Timer> {
    /// The delay from which on timers are late.
    public static var lateness: UInt64 { 200_000_000 }
    /// The duration of a turn.
    public static var turn: UInt64 { 20_000_000 }
    /// The largest number of turns. It limits the additional delay of the last timer.
    public static var turns: Int { 16 }
    /// Timers that are this close to each other share a turn.
    private static var window: UInt64 { 1_000_000 }

    /// The late timers, the earliest first, from `next` on.
    private var timers: [(deadline: UInt64, timer: Timer)] = []
    private var next = 0
    private var turnsLeft = 0
    /// The time of the next turn.
    public private(set) var nextTurn: UInt64 = 0

    public init() {}

    /// Whether timers wait for a turn.
    public var isUnderWay: Bool { next < timers.count }

    /// Takes the timers that are due, in the order of their deadlines, if they are late. Returns the timers that fire now.
    ///
    /// While timers wait for a turn, the caller takes no others.
    public mutating func begin(with due: [(deadline: UInt64, timer: Timer)], at now: UInt64) -> [Timer] {
        guard let first = due.first, now >= first.deadline, now - first.deadline >= Self.lateness else {
            return due.map(\.timer)
        }
        (timers, next, turnsLeft) = (due, 0, Self.turns)
        nextTurn = now
        return takeTurn(at: now)
    }

    /// Returns the timers of the next turn; none before its time.
    public mutating func takeTurn(at now: UInt64) -> [Timer] {
        // After the clock has gone back, the time of the next turn may be far away.
        guard now >= nextTurn || nextTurn - now > Self.turn else { return [] }
        nextTurn = now + Self.turn
        let first = next
        next += (timers.count - next + turnsLeft - 1) / turnsLeft
        turnsLeft -= 1
        while next < timers.count, timers[next].deadline - timers[next - 1].deadline <= Self.window { next += 1 }
        defer { if !isUnderWay { (timers, next) = ([], 0) } }
        return timers[first..<next].map(\.timer)
    }
}
