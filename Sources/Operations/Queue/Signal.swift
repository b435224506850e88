import Synchronization

/// The state by which an adding thread decides whether to call a worker, without the queue's lock.
///
/// | bits              | a thread that adds work                                                          |
/// |-------------------|----------------------------------------------------------------------------------|
/// | none              | sets `calling` and calls a worker                                                |
/// | `calling`         | does nothing: a worker was called and will look                                  |
/// | `busy`            | does nothing: no slot is free, and the thread that frees a slot looks            |
/// | `attended`        | does nothing: a worker runs tiny operations and looks after each (`Pace`)        |
/// | `held`            | takes the lock: no operation runs or may start, so no worker will look           |
///
/// Callers set `calling`, and the called worker clears it before it looks. `busy` and `held` change only under the
/// queue's lock. The thread that clears or exchanges them looks into the inbox once more. The attending worker sets
/// `attended`. The thread that clears it looks, or calls another worker.
struct Signal: ~Copyable, Sendable {
    private let bits = Atomic<UInt8>(0)

    private static var calling: UInt8 { 1 }
    private static var busy: UInt8 { 2 }
    private static var held: UInt8 { 4 }
    private static var attended: UInt8 { 8 }
    private static var underLock: UInt8 { busy | held }

    enum Advice { case nothing, callWorker, takeLock }

    /// Returns the step to take after a push. Only one thread gets `callWorker`.
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

    /// Claims the call of a worker that is needed although no slot may be free. False: a worker was called or attends.
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

    /// Claims the call of a worker that is needed in any case. False: a worker was called.
    func claimCall() -> Bool {
        bits.bitwiseOr(Self.calling, ordering: .sequentiallyConsistent).oldValue & Self.calling == 0
    }

    /// Claims the call of a worker that stays a little longer. False: a worker was called, or no slot is free.
    func claimLingering() -> Bool {
        bits.compareExchange(expected: 0, desired: Self.calling, ordering: .sequentiallyConsistent).exchanged
    }

    /// Clears the call, because the called worker is running and looks for work.
    func workerArrived() { bits.bitwiseAnd(~Self.calling, ordering: .sequentiallyConsistent) }

    /// Claims the attendance. False: another worker attends.
    func attend() -> Bool {
        bits.bitwiseOr(Self.attended, ordering: .sequentiallyConsistent).oldValue & Self.attended == 0
    }

    /// Ends the attendance. The caller then looks for work or calls a worker.
    func stopAttending() {
        bits.bitwiseAnd(~Self.attended, ordering: .sequentiallyConsistent)
    }

    var isAttended: Bool { bits.load(ordering: .sequentiallyConsistent) & Self.attended != 0 }

    var isCalling: Bool { bits.load(ordering: .relaxed) & Self.calling != 0 }

    /// Publishes the state of the schedule, under the queue's lock. True: the state has changed.
    func publish(isBusy: Bool, isHeld: Bool) -> Bool {
        let wanted = (isBusy ? Self.busy : 0) | (isHeld ? Self.held : 0)
        let old = bits.load(ordering: .relaxed)
        guard old & Self.underLock != wanted else { return false }
        if wanted != 0 { bits.bitwiseOr(wanted, ordering: .sequentiallyConsistent) }
        bits.bitwiseAnd(wanted | ~Self.underLock, ordering: .sequentiallyConsistent)
        return true
    }
}
