import SchedulerCore
import Synchronization

/// The promise of a worker to take its next step for its queue as soon as its present code returns.
///
/// While the promise holds, a thread that makes an operation of the queue startable calls no worker. So a chain stays on one
/// thread, and a serial queue wakes no thread between two operations. The worker keeps the promise, or passes it on before a
/// step that may take long. If the worker does neither for two looks of the `Monitor`, the monitor takes the promise by an
/// exchange. Then the monitor acts in place of the worker.
///
/// A promise is one word: a small number, or the address of an operation.
struct Obligation: ~Copyable, Sendable {
    enum Content {
        case none
        /// To look into the queue. The worker may attend it.
        case look
        /// To look into the queue. The worker has claimed the call of a worker of its level (`Signal`).
        case call
        /// To make this operation leave the queue, and to look. The operation has claimed its end inside its `start()`, which
        /// may continue for long after that. The queue holds the operation until it leaves.
        case departure(Unmanaged<Operation>)

        var isPromise: Bool { if case .none = self { false } else { true } }
    }

    private let bits = Atomic<UInt>(0)

    /// The words that are no address of an operation.
    private enum Number { static let none: UInt = 0, look: UInt = 1, call: UInt = 2 }

    /// Not sequentially consistent, because the exchange would make an operation a tenth slower. See `Monitor.sleep`.
    func set(_ content: Content) { bits.store(Self.word(of: content), ordering: .releasing) }

    func clear() { bits.store(Number.none, ordering: .relaxed) }

    /// Whether the worker looks into its queue next. Sequentially consistent: a monitor that takes the promise looks afterwards.
    var isSet: Bool { bits.load(ordering: .sequentiallyConsistent) != Number.none }

    var isDeparture: Bool { bits.load(ordering: .relaxed) > Number.call }

    /// Takes the promise. Only one thread gets it.
    func take() -> Content {
        guard bits.load(ordering: .relaxed) != Number.none else { return .none }
        Primitives.noteExchange()
        return Self.content(of: bits.exchange(Number.none, ordering: .sequentiallyConsistent))
    }

    private static func word(of content: Content) -> UInt {
        switch content {
        case .none: Number.none
        case .look: Number.look
        case .call: Number.call
        case .departure(let operation): UInt(bitPattern: operation.toOpaque())
        }
    }

    private static func content(of word: UInt) -> Content {
        switch word {
        case Number.none: .none
        case Number.look: .look
        case Number.call: .call
        default: .departure(.fromOpaque(UnsafeRawPointer(bitPattern: word).unsafelyUnwrapped))
        }
    }
}

extension Worker {
    /// Whether this thread is going to look into the queue in any case.
    func looksSoon(into queue: OperationQueue) -> Bool {
        obligation.isSet && workplace?.toOpaque() == Unmanaged.passUnretained(queue).toOpaque()
    }

    /// Whether the worker runs an operation of the queue.
    func isRunning(for queue: Unmanaged<OperationQueue>) -> Bool {
        frame != nil && workplace?.toOpaque() == queue.toOpaque()
    }

    /// Promises the next step. The worker may be inside user code until then.
    func promise(_ content: Obligation.Content) {
        obligation.set(content)
        Monitor.shared.wakeIfAsleep()
    }

    /// Takes over the departure of an operation that has claimed its end. False: this thread does not run the operation.
    func willDepart(_ operation: Operation) -> Bool {
        guard frame?.operation.toOpaque() == Unmanaged.passUnretained(operation).toOpaque() else { return false }
        promise(.departure(Unmanaged.passUnretained(operation)))
        return true
    }

    /// Makes the present operation leave the queue now, if it has claimed its end inside an override of `start()`.
    func fulfillDeparture() { if obligation.isDeparture { fulfillObligation() } }

    /// Ends the promise before a step that may take long, in place of this worker's next step.
    func fulfillObligation() {
        workplace?.takeUnretainedValue().fulfill(obligation.take(), at: level, mayRunUserCode: true)
    }
}

extension OperationQueue {
    /// Acts on the promise of a worker of a level that does not act on it itself: calls another worker to look, and makes the
    /// operation leave that has claimed its end.
    func fulfill(_ obligation: Obligation.Content, at level: ServiceLevel, mayRunUserCode: Bool) {
        switch obligation {
        case .none: return
        case .call: signal.workerArrived(level)
        case .look, .departure: signal.stopAttending()
        }
        // Before the departure, which may run a completion block that waits for other operations of the queue.
        callWorkersIfStartable()
        guard case .departure(let departing) = obligation else { return }
        let operation = departing.takeUnretainedValue()
        if mayRunUserCode { return operation.depart() }
        WorkerPool[.normal].request(PoolJob(threadName: threadName) { operation.depart() })
    }
}
