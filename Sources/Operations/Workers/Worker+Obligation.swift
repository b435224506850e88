import SchedulerCore
import Synchronization

/// The promise of a worker to look into its queue as soon as its present operation returns.
///
/// While the promise holds, a thread that makes an operation of the queue startable calls no worker. So a chain stays on one
/// thread, and a serial queue wakes no thread between two operations. The worker keeps the promise, or passes it on before a
/// step that may take long. If the worker does neither for two looks of the `Monitor`, the monitor takes the promise by an
/// exchange. Then the monitor acts in place of the worker.
///
/// A promise may include a *departure*: the operation has claimed its end on this thread, inside its `start()`, and leaves
/// its queue when `start()` returns. An override of `start()` may continue for long after the end.
struct Obligation: ~Copyable, Sendable {
    enum Content {
        case none
        /// To look into the queue.
        case look
        /// To make this operation leave the queue, and to look. The queue holds the operation until then.
        case departure(Unmanaged<Operation>)
    }

    private let bits = Atomic<UInt>(0)

    private static var look: UInt { 1 }

    func promiseLook() { bits.store(Self.look, ordering: .relaxed) }

    func promiseDeparture(of operation: Operation) {
        bits.store(UInt(bitPattern: Unmanaged.passUnretained(operation).toOpaque()), ordering: .releasing)
    }

    func clear() { bits.store(0, ordering: .relaxed) }

    /// Whether the promise holds. Sequentially consistent: the caller has made an operation startable before, and a monitor
    /// that takes the promise looks afterwards.
    var isSet: Bool { bits.load(ordering: .sequentiallyConsistent) != 0 }

    var isDeparture: Bool { bits.load(ordering: .relaxed) > Self.look }

    /// Takes the promise. Only one thread gets it.
    func take() -> Content {
        guard bits.load(ordering: .relaxed) != 0 else { return .none }
        Primitives.noteExchange()
        let taken = bits.exchange(0, ordering: .sequentiallyConsistent)
        guard taken > Self.look else { return taken == 0 ? .none : .look }
        return .departure(Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: taken).unsafelyUnwrapped))
    }
}

extension Worker {
    /// Whether this thread is going to look into the queue in any case.
    func looksSoon(into queue: OperationQueue) -> Bool {
        obligation.isSet && frame?.queue?.toOpaque() == Unmanaged.passUnretained(queue).toOpaque()
    }

    /// Promises to look after the present operation, although others could start now. See `Pace`.
    func promiseLook() {
        obligation.promiseLook()
        Monitor.shared.wakeIfAsleep()
    }

    /// Takes over the departure of an operation that has claimed its end. False: this thread does not run the operation.
    func willDepart(_ operation: Operation) -> Bool {
        guard frame?.operation.toOpaque() == Unmanaged.passUnretained(operation).toOpaque() else { return false }
        obligation.promiseDeparture(of: operation)
        Monitor.shared.wakeIfAsleep()
        return true
    }

    /// Makes the present operation leave the queue now, if it has claimed its end inside an override of `start()`.
    func fulfillDeparture() { if obligation.isDeparture { fulfillObligation() } }

    /// Ends the promise before a step that may take long: makes the operation leave, and calls another worker to look.
    func fulfillObligation() {
        guard let queue = frame?.queue?.takeUnretainedValue() else { return }
        queue.fulfill(obligation.take(), mayRunUserCode: true)
    }
}

extension OperationQueue {
    /// Acts on the promise of a worker that does not act on it itself.
    func fulfill(_ obligation: Obligation.Content, mayRunUserCode: Bool) {
        if case .none = obligation { return }
        // Before the departure, which may run a completion block that waits for other operations of the queue.
        signal.stopAttending()
        callWorkersIfStartable()
        guard case .departure(let operation) = obligation else { return }
        if mayRunUserCode {
            operation.takeUnretainedValue().depart()
        } else {
            WorkerPool[.normal].request(LateDeparture(of: operation.takeUnretainedValue(), from: self))
        }
    }
}

/// The departure of an operation whose `start()` continues long after its end. The monitor has ended the attendance.
private final class LateDeparture: WorkSource {
    private let operation: Operation
    private let queue: OperationQueue

    init(of operation: Operation, from queue: OperationQueue) {
        self.operation = operation
        self.queue = queue
    }

    var urgency: Urgency { .prompt }
    var threadName: String? { queue.threadName }

    func work(on worker: Worker) { operation.depart() }
}
