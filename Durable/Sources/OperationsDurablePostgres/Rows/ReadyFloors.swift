#if Postgres
import DurableCore

/// The places in the order of starts before which no operation of a lane is ready, or blocked by its key.
///
/// A claim begins at these places. The server keeps the entries of ended operations in its indexes while any transaction has an
/// older snapshot, perhaps for hours. A claim that begins at the first entry passes over all of them. The same holds for the
/// instants of wakes.
///
/// The floors of a process stay correct because an operation that becomes ready is usually the last one of its lane. A
/// transaction that makes an operation ready at an earlier place increases the number `early_ready` of the store, which each
/// transaction reads. Older programs and `durable_add` do not, and the clock may be set back. Floors are therefore forgotten
/// after a second.
struct ReadyFloors {
    /// The ready operations of one queue, epoch, kind and priority, or the blocked operations of a key in place of a kind.
    struct Lane: Hashable {
        var queue: QueueID
        var epoch: Int64
        var kind: KindID?
        var key: ExactName?
        var priority: DurablePriority
    }

    struct Place: Comparable {
        var readyAt: DurableInstant
        var id: OperationID

        static func < (a: Self, b: Self) -> Bool { (a.readyAt, a.id) < (b.readyAt, b.id) }
    }

    /// The time after which floors are forgotten.
    static let life = Duration.seconds(1)
    /// The place before all others.
    static let first = Place(readyAt: DurableInstant(microseconds: .min), id: OperationID(.min))

    private var places: [Lane: Place] = [:]
    /// The instant before which no operation or key wakes.
    private(set) var wake = first.readyAt
    /// Whether the process has looked at the index of deadlines.
    var hasSeenDeadlines = false
    private var number: Int64 = 0
    private var since = DurableInstant(microseconds: 0)

    /// Forgets the floors if they may be wrong.
    ///
    /// - Parameter number: The number `early_ready`.
    mutating func validate(number: Int64, now: DurableInstant) {
        if number == self.number, since <= now, now < since + Self.life { return }
        self = ReadyFloors()
        (self.number, since) = (number, now)
    }

    func floor(of lane: Lane) -> Place { places[lane] ?? Self.first }

    mutating func forget() { (places, wake, hasSeenDeadlines) = ([:], Self.first.readyAt, false) }

    /// Keeps the instants of the first wakes; nil if there is none.
    mutating func learn(wakes: [DurableInstant?], now: DurableInstant) {
        wake = wakes.reduce(now) { min($0, $1 ?? now) }
    }

    /// Keeps the place of the first ready operation of a lane.
    mutating func learn(_ entry: ReadyEntry, of lane: Lane, now: DurableInstant) {
        // An operation that becomes ready at this instant, in this transaction or in the next one, may have a smaller identifier.
        places[lane] = min(Place(readyAt: entry.readyAt, id: entry.id), Place(readyAt: now, id: OperationID(.min)))
    }

    /// Notes a new state of an operation. Returns whether the floors of other processes may be wrong.
    mutating func note(_ row: OperationRow, replacing old: OperationRow?, now: DurableInstant) -> Bool {
        if row.state == .scheduled || row.state == .awaitingSignal {
            guard let wakeAt = row.wakeAt, wakeAt < now, row.wakeAt != old?.wakeAt else { return false }
            wake = Self.first.readyAt
        } else {
            guard let lane = row.lane, row.readyAt < now else { return false }
            if let old, old.lane == lane, old.readyAt <= row.readyAt { return false }
            places[lane] = nil
        }
        number += 1
        return true
    }
}

extension OperationRow {
    /// The lane of a ready or blocked operation.
    fileprivate var lane: ReadyFloors.Lane? {
        switch state {
        case .ready: ReadyFloors.Lane(queue: queue, epoch: epoch, kind: kind, priority: priority)
        case .blocked:
            key.map { ReadyFloors.Lane(queue: queue, epoch: epoch, key: ExactName($0), priority: priority) }
        default: nil
        }
    }
}
#endif
