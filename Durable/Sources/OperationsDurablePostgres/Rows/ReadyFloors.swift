#if Postgres
import DurableCore

/// The places in the order of starts before which no operation of a lane is ready.
///
/// A claim begins at these places. The server keeps the entries of ended operations in the index of ready operations while any
/// transaction has an older snapshot, perhaps for hours. A claim that begins at the first entry passes over all of them.
///
/// The floors of a process stay correct because an operation that becomes ready is usually the last one of its lane. A
/// transaction that makes an operation ready at an earlier place increases the number `early_ready` of the store, which each
/// transaction reads. Older programs and `durable_add` do not, and the clock may be set back. Floors are therefore forgotten
/// after a second.
struct ReadyFloors {
    /// The operations of one queue, epoch, kind and priority.
    struct Lane: Hashable {
        var queue: QueueID
        var epoch: Int64
        var kind: KindID
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

    mutating func forget() { places = [:] }

    /// Keeps the place of the first ready operation of a lane.
    mutating func learn(_ entry: ReadyEntry, of lane: Lane, now: DurableInstant) {
        // An operation that becomes ready at this instant, in this transaction or in the next one, may have a smaller identifier.
        places[lane] = min(Place(readyAt: entry.readyAt, id: entry.id), Place(readyAt: now, id: OperationID(.min)))
    }

    /// Notes a new state of an operation. Returns whether the floors of other processes may be wrong.
    mutating func note(_ row: OperationRow, replacing old: OperationRow?, now: DurableInstant) -> Bool {
        guard row.state == .ready, row.readyAt < now else { return false }
        if let old, old.state == .ready, old.lane == row.lane, old.readyAt <= row.readyAt { return false }
        places[row.lane] = nil
        number += 1
        return true
    }
}

extension OperationRow {
    fileprivate var lane: ReadyFloors.Lane {
        ReadyFloors.Lane(queue: queue, epoch: epoch, kind: kind, priority: priority)
    }
}
#endif
