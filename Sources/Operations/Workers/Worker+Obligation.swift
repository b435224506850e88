import SchedulerCore
import Synchronization

/// The promise of a worker to take its next step for its queue as soon as its present code returns.
///
/// While the promise holds, a thread that makes an operation of the queue startable calls no worker. So a chain stays on one
/// thread, and a serial queue wakes no thread between two operations. The worker keeps the promise, or passes it on before a
/// step that may take long. If the worker does neither for two looks of the `Monitor`, the monitor takes the promise by an
/// exchange. Then the monitor acts in place of the worker.
///
/// A promise is one word: a tag, or the address of an operation and a tag.
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
        /// To run this operation, which the worker has claimed. The worker may attend the queue.
        case start(Unmanaged<Operation>)
        /// To call `cancel()` of this operation, and to look. No other thread makes this call. The promise owns the reference of the
        /// claim: another thread may cancel the operation as well, and make it leave.
        case cancel(Unmanaged<Operation>)

        var isPromise: Bool { if case .none = self { false } else { true } }
    }

    private let bits = Atomic<UInt>(0)

    /// Bits of the word, which no address of an operation has.
    private enum Tag { static let first: UInt = 1, second: UInt = 2, all: UInt = 3 }

    /// Not sequentially consistent, because the exchange would make an operation a tenth slower. See `Monitor.sleep`.
    func set(_ content: Content) { bits.store(Self.word(of: content), ordering: .releasing) }

    func clear() { bits.store(0, ordering: .relaxed) }

    var isSet: Bool { bits.load(ordering: .sequentiallyConsistent) != 0 }

    /// Whether the worker looks into its queue next. With `start` and `cancel` it first runs code of the user. That code may
    /// wait for operations that the caller has made startable. Sequentially consistent: a monitor that takes the promise looks
    /// afterwards.
    var isLook: Bool {
        let word = bits.load(ordering: .sequentiallyConsistent)
        return word != 0 && (word <= Tag.all || word & Tag.all == 0)
    }

    var isDeparture: Bool {
        let word = bits.load(ordering: .relaxed)
        return word > Tag.all && word & Tag.all == 0
    }

    /// Takes the promise. Only one thread gets it.
    func take() -> Content {
        guard bits.load(ordering: .relaxed) != 0 else { return .none }
        Primitives.noteExchange()
        return Self.content(of: bits.exchange(0, ordering: .sequentiallyConsistent))
    }

    private static func word(of content: Content) -> UInt {
        switch content {
        case .none: 0
        case .look: Tag.first
        case .call: Tag.second
        case .departure(let operation): UInt(bitPattern: operation.toOpaque())
        case .start(let operation): UInt(bitPattern: operation.toOpaque()) | Tag.first
        case .cancel(let operation): UInt(bitPattern: operation.toOpaque()) | Tag.second
        }
    }

    private static func content(of word: UInt) -> Content {
        guard let address = UnsafeRawPointer(bitPattern: word & ~Tag.all) else {
            return word == 0 ? .none : word == Tag.first ? .look : .call
        }
        let operation = Unmanaged<Operation>.fromOpaque(address)
        return switch word & Tag.all {
        case Tag.first: .start(operation)
        case Tag.second: .cancel(operation)
        default: .departure(operation)
        }
    }
}

extension Worker {
    /// Whether this thread is going to look into the queue in any case.
    func looksSoon(into queue: OperationQueue) -> Bool {
        obligation.isLook && workplace?.toOpaque() == Unmanaged.passUnretained(queue).toOpaque()
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

    /// Ends the promise before a step that may take long: does or returns the promised work, and calls another worker to look.
    func fulfillObligation() {
        workplace?.takeUnretainedValue().fulfill(obligation.take(), at: level, mayRunUserCode: true)
    }
}

extension OperationQueue {
    /// Acts on the promise of a worker of a level that does not act on it itself.
    func fulfill(_ obligation: Obligation.Content, at level: ServiceLevel, mayRunUserCode: Bool) {
        switch obligation {
        case .none: return
        case .call: signal.workerArrived(level)
        // Before the departure, which may run a completion block that waits for other operations of the queue.
        case .look, .departure, .start, .cancel: signal.stopAttending()
        }
        callWorkersIfStartable()
        guard let step = lateStep(obligation) else { return }
        // Any thread of a pool may do it.
        if mayRunUserCode { return step() }
        WorkerPool[.normal].request(PoolJob(threadName: threadName, consume step))
    }

    /// The promised step of a worker that runs other code for long; nil: there was no promise besides a look.
    private func lateStep(_ obligation: Obligation.Content) -> (@Sendable () -> Void)? {
        switch obligation {
        case .none, .look, .call: return nil
        case .departure(let operation):
            let operation = operation.takeUnretainedValue()
            return { operation.depart() }
        case .start(let operation):
            let operation = operation.takeUnretainedValue()
            return { if !self.unclaim(operation) { self.putBack(operation, andAsk: true) } }
        case .cancel(let operation):
            let operation = operation.takeRetainedValue()
            return { operation.cancelAsPromised() }
        }
    }
}
