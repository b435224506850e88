import SchedulerCore
import Synchronization

/// Something to be done later, on a thread of the pools.
///
/// It depends on nothing that may itself stand still: a Dispatch timer's block, say, is not run while all of Dispatch's
/// threads are blocked, which is when a stall has to be told.
class Appointment: WorkSource, @unchecked Sendable {
    // Sendable: `next` belongs to who makes the appointment, and from the push on to the monitor; the rest is constant.
    /// On the monotonic clock, in nanoseconds.
    let deadline: UInt64
    fileprivate var next: Unmanaged<Appointment>?

    init(after delay: Duration) { deadline = MonotonicClock.deadline(after: delay.wholeNanoseconds) }

    /// What is to be done.
    func keep() {}

    final var urgency: Urgency { .prompt }
    final var threadName: String? { "appointment" }
    final func work(on worker: Worker) { keep() }
}

/// Where the monitor finds the appointments made since it last looked: a stack that it takes whole.
///
/// Lock-free, because appointments are made under a queue's lock.
struct NewAppointments: ~Copyable, Sendable {
    private let head = Atomic<UInt>(0)

    /// Sequentially consistent, as is what follows it: the look whether the monitor sleeps.
    func push(_ appointment: Appointment) {
        let new = UInt(bitPattern: Unmanaged.passRetained(appointment).toOpaque())
        var old = head.load(ordering: .relaxed)
        while true {
            appointment.next = Self.appointment(old)
            let (done, seen) = head.weakCompareExchange(
                expected: old, desired: new, successOrdering: .sequentiallyConsistent, failureOrdering: .relaxed)
            if done { return }
            old = seen
        }
    }

    var isEmpty: Bool { head.load(ordering: .sequentiallyConsistent) == 0 }

    /// Moves all into the heap; those of the same instant in no promised order.
    func takeAll(into heap: inout DeadlineHeap<Appointment>) {
        guard !isEmpty else { return }
        var node = Self.appointment(head.exchange(0, ordering: .acquiring))
        while let current = node {
            let appointment = current.takeRetainedValue()
            node = appointment.next
            appointment.next = nil
            heap.insert(appointment, at: appointment.deadline)
        }
    }

    private static func appointment(_ bits: UInt) -> Unmanaged<Appointment>? {
        UnsafeRawPointer(bitPattern: bits).map { Unmanaged.fromOpaque($0) }
    }
}
