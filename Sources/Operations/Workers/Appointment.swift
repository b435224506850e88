import SchedulerCore
import Synchronization

/// A timer: work to do later, on a thread of the pools.
///
/// A timer depends on no part that may itself be blocked. For example, the block of a Dispatch timer does not run while
/// all threads of Dispatch are blocked. Such a stall has to be reported.
class Appointment: WorkSource, @unchecked Sendable {
    // Sendable: `next` belongs to the thread that makes the appointment, and from the push on to the monitor. The rest is
    // constant.
    /// The time of the monotonic clock, in nanoseconds.
    let deadline: UInt64
    fileprivate var next: Unmanaged<Appointment>?

    init(after delay: Duration) { deadline = MonotonicClock.deadline(after: delay.wholeNanoseconds) }

    /// The work to do. Overridden by subclasses.
    func keep() {}

    final var urgency: Urgency { .prompt }
    final var threadName: String? { "appointment" }
    final func work(on worker: Worker) { keep() }
}

/// The appointments made since the monitor last looked: a stack from which the monitor takes all.
///
/// Lock-free, because appointments are made under a queue's lock.
struct NewAppointments: ~Copyable, Sendable {
    private let head = Atomic<UInt>(0)

    /// Adds an appointment. Sequentially consistent, like the later check whether the monitor sleeps.
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

    /// Moves all appointments into the heap. Appointments of the same instant have no defined order.
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
