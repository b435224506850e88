import Synchronization

/// The state by which an adding thread decides whether to call a worker, without the queue's lock.
///
/// | bits              | a thread that adds work                                                          |
/// |-------------------|----------------------------------------------------------------------------------|
/// | none              | sets `calling` of the work's level and calls a worker of that level              |
/// | `calling`, own    | does nothing: a worker of that level was called and will look                    |
/// | `busy`            | calls none: the thread that frees a slot, or resumes the queue, looks            |
/// | `attended`        | does nothing: a worker runs tiny operations and looks after each (`Pace`)        |
/// | `empty`           | takes the lock: the queue may start nothing, and has no member                   |
///
/// There is one bit `calling` for each service level. Callers set it, and the called worker clears it before it looks. A
/// thread that looks calls a worker of each other level that has an operation to start. `busy` and `empty` change only under
/// the queue's lock. The thread that clears or exchanges them looks into the inbox once more. The attending worker sets
/// `attended`. The thread that clears it looks, or calls another worker.
struct Signal: ~Copyable, Sendable {
    private let bits = Atomic<UInt8>(0)

    private static func calling(_ level: ServiceLevel) -> UInt8 { 1 << UInt8(level.rawValue) }
    private static var busy: UInt8 { 0b0010_0000 }
    private static var empty: UInt8 { 0b0100_0000 }
    private static var attended: UInt8 { 0b1000_0000 }
    private static var underLock: UInt8 { busy | empty }

    /// Whether a push of work of a level may need a step: a call of a worker, or the lock.
    @inline(__always)
    func needsStep(for level: ServiceLevel) -> Bool {
        let old = bits.load(ordering: .sequentiallyConsistent)
        return old & Self.empty != 0 || old & (Self.busy | Self.attended | Self.calling(level)) == 0
    }

    var isEmpty: Bool { bits.load(ordering: .relaxed) & Self.empty != 0 }

    /// Claims the call of a worker for work that needs a free slot. False: a worker was called or attends, or no slot is free.
    func claimCallForSlot(_ level: ServiceLevel) -> Bool { setCalling(level, unless: Self.underLock | Self.attended) }

    /// Claims the call of a worker that is needed although no slot may be free. False: a worker was called or attends.
    func claimCallForResumption(_ level: ServiceLevel) -> Bool {
        setCalling(level, unless: Self.attended)
    }

    /// Claims the call of a worker that is needed in any case. False: a worker of the level was called.
    func claimCall(_ level: ServiceLevel) -> Bool { setCalling(level) }

    /// Only one thread gets true for a level until the called worker has arrived.
    private func setCalling(_ level: ServiceLevel, unless other: UInt8 = 0) -> Bool {
        var old = bits.load(ordering: .sequentiallyConsistent)
        while old & (Self.calling(level) | other) == 0 {
            Primitives.noteExchange()
            let (done, seen) = bits.weakCompareExchange(
                expected: old, desired: old | Self.calling(level), ordering: .sequentiallyConsistent)
            if done { return true }
            old = seen
        }
        return false
    }

    /// Clears the call, because the called worker is running and looks for work.
    func workerArrived(_ level: ServiceLevel) {
        Primitives.noteExchange()
        bits.bitwiseAnd(~Self.calling(level), ordering: .sequentiallyConsistent)
    }

    /// Forgets all calls. The called threads belong to a dispatch queue that the queue no longer uses, and may never run.
    func forgetCalls() {
        let calls = ServiceLevel.allCases.reduce(UInt8(0)) { $0 | Self.calling($1) }
        Primitives.noteExchange()
        bits.bitwiseAnd(~calls, ordering: .sequentiallyConsistent)
    }

    /// Claims the attendance. False: another worker attends.
    func attend() -> Bool {
        Primitives.noteExchange()
        return bits.bitwiseOr(Self.attended, ordering: .sequentiallyConsistent).oldValue & Self.attended == 0
    }

    /// Ends the attendance. The caller then looks for work or calls a worker.
    func stopAttending() {
        Primitives.noteExchange()
        bits.bitwiseAnd(~Self.attended, ordering: .sequentiallyConsistent)
    }

    /// The bits from which a thread with a resumption decides whether to call other workers.
    var forResuming: (isAttended: Bool, isBusy: Bool) {
        let old = bits.load(ordering: .sequentiallyConsistent)
        return (old & Self.attended != 0, old & Self.busy != 0)
    }

    /// Whether the queue may start nothing until a slot is free or the queue is resumed, and no worker attends it.
    var isBusyUnattended: Bool { bits.load(ordering: .relaxed) & (Self.busy | Self.attended) == Self.busy }

    var isAttended: Bool { bits.load(ordering: .sequentiallyConsistent) & Self.attended != 0 }

    func isCalling(_ level: ServiceLevel) -> Bool { bits.load(ordering: .relaxed) & Self.calling(level) != 0 }

    /// Publishes the state of the schedule, under the queue's lock. True: the state has changed.
    func publish(isBusy: Bool, isEmpty: Bool) -> Bool {
        let wanted = (isBusy ? Self.busy : 0) | (isEmpty ? Self.empty : 0)
        let old = bits.load(ordering: .relaxed)
        guard old & Self.underLock != wanted else { return false }
        if wanted != 0 {
            Primitives.noteExchange()
            bits.bitwiseOr(wanted, ordering: .sequentiallyConsistent)
        }
        Primitives.noteExchange()
        bits.bitwiseAnd(wanted | ~Self.underLock, ordering: .sequentiallyConsistent)
        return true
    }
}
