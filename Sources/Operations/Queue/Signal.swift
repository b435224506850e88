import Synchronization

/// What whoever brings something to a queue has to know without taking its lock: whether to call a worker.
///
/// | bits              | who brings something                                                       |
/// |-------------------|----------------------------------------------------------------------------|
/// | none              | sets `calling` and calls a worker                                          |
/// | `calling`         | does nothing: a worker is on its way and will look                         |
/// | `busy`            | does nothing: there is no room, and whoever makes room looks               |
/// | `attended`        | does nothing: a worker runs tiny operations and looks after each (`Pace`)  |
/// | `held`            | takes the lock: nothing runs and nothing may start, so nobody will look    |
///
/// `calling` is set by callers and cleared by the worker called, before it looks. `busy` and `held` change under the
/// queue's lock only; whoever clears or swaps them looks into the inbox once more. `attended` is set by the worker that
/// attends; whoever clears it looks, or calls another one.
struct Signal: ~Copyable, Sendable {
    private let bits = Atomic<UInt8>(0)

    private static var calling: UInt8 { 1 }
    private static var busy: UInt8 { 2 }
    private static var held: UInt8 { 4 }
    private static var attended: UInt8 { 8 }
    private static var underLock: UInt8 { busy | held }

    enum Advice { case nothing, callWorker, takeLock }

    /// What to do after a push. `callWorker` is said to one thread only.
    func advice() -> Advice {
        var old = bits.load(ordering: .sequentiallyConsistent)
        while true {
            if old & Self.held != 0 { return .takeLock }
            if old != 0 { return .nothing }
            let (done, seen) = bits.weakCompareExchange(
                expected: old, desired: Self.calling, ordering: .sequentiallyConsistent)
            if done { return .callWorker }
            old = seen
        }
    }

    /// Claims the call for a worker that is wanted although there may be no room; false when one is on its way or attends.
    func claimCallForResumption() -> Bool {
        var old = bits.load(ordering: .sequentiallyConsistent)
        while old & (Self.calling | Self.attended) == 0 {
            let (done, seen) = bits.weakCompareExchange(
                expected: old, desired: old | Self.calling, ordering: .sequentiallyConsistent)
            if done { return true }
            old = seen
        }
        return false
    }

    /// Claims the call for a worker that is wanted in any case; false when one is on its way.
    func claimCall() -> Bool {
        bits.bitwiseOr(Self.calling, ordering: .sequentiallyConsistent).oldValue & Self.calling == 0
    }

    /// Claims the call for a worker that stays a little longer; false when one is on its way, or there is no room.
    func claimLingering() -> Bool {
        bits.compareExchange(expected: 0, desired: Self.calling, ordering: .sequentiallyConsistent).exchanged
    }

    /// The worker that was called is here and looks after this.
    func workerArrived() { bits.bitwiseAnd(~Self.calling, ordering: .sequentiallyConsistent) }

    /// Claims the attendance; false when another worker has it.
    func attend() -> Bool {
        bits.bitwiseOr(Self.attended, ordering: .sequentiallyConsistent).oldValue & Self.attended == 0
    }

    /// Nobody attends any more: the caller looks after this, or calls a worker.
    func stopAttending() {
        bits.bitwiseAnd(~Self.attended, ordering: .sequentiallyConsistent)
    }

    var isAttended: Bool { bits.load(ordering: .sequentiallyConsistent) & Self.attended != 0 }

    var isCalling: Bool { bits.load(ordering: .relaxed) & Self.calling != 0 }

    /// Publishes, under the queue's lock, what the schedule says; true when it differs from before.
    func publish(isBusy: Bool, isHeld: Bool) -> Bool {
        let wanted = (isBusy ? Self.busy : 0) | (isHeld ? Self.held : 0)
        let old = bits.load(ordering: .relaxed)
        guard old & Self.underLock != wanted else { return false }
        if wanted != 0 { bits.bitwiseOr(wanted, ordering: .sequentiallyConsistent) }
        bits.bitwiseAnd(wanted | ~Self.underLock, ordering: .sequentiallyConsistent)
        return true
    }
}
