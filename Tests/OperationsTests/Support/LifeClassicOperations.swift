import Operations
import Synchronization
import TestSupport

/// Ends its work in `cancel()`, whether it has started or not.
final class FinishesInCancel: SpellingOperation, @unchecked Sendable {
    override func cancel() {
        super.cancel()
        finish()
    }
}

/// Owns a thread with a loop, and moves its work there in `start`.
class LoopOperation: Operation, @unchecked Sendable {
    private enum State { case waiting, executing, finished }

    let loop: LoopThread
    let threads = Journal<ThreadIdentity>()
    private let state = Guarded(State.waiting)

    init(_ loop: LoopThread) { self.loop = loop }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { state.withLock { $0 == .executing } }
    override var isFinished: Bool { state.withLock { $0 == .finished } }

    override func start() {
        loop.perform { [self] in
            if isCancelled { return finish() }
            willChangeValue(forKey: "isExecuting")
            state.withLock { $0 = .executing }
            didChangeValue(forKey: "isExecuting")
            threads.append(.current)
            loop.perform { [self] in finish() }
        }
    }

    override func cancel() {
        super.cancel()
        loop.perform { [self] in if isExecuting { finish() } }
    }

    private func finish() {
        guard !isFinished else { return }
        willChangeValue(forKey: "isExecuting")
        willChangeValue(forKey: "isFinished")
        state.withLock { $0 = .finished }
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
    }
}

/// Has its own state, from which isReady, isExecuting and isFinished derive. Each step is announced by its name.
class StateOperation: Operation, @unchecked Sendable {
    enum State: String, Sendable {
        case ready = "isReady"
        case executing = "isExecuting"
        case finished = "isFinished"
    }

    private let stored = Guarded(State.ready)
    let began = Gate()
    let mains = Atomic(0)

    var state: State {
        get { stored.withLock { $0 } }
        set {
            let old = state
            willChangeValue(forKey: old.rawValue)
            willChangeValue(forKey: newValue.rawValue)
            stored.withLock { $0 = newValue }
            didChangeValue(forKey: old.rawValue)
            didChangeValue(forKey: newValue.rawValue)
        }
    }

    override var isAsynchronous: Bool { true }
    override var isReady: Bool { super.isReady && state == .ready }
    override var isExecuting: Bool { state == .executing }
    override var isFinished: Bool { state == .finished }

    override func start() {
        guard !isCancelled else { return state = .finished }
        state = .executing
        main()
    }

    override func main() {
        mains.add(1, ordering: .relaxed)
        began.open()
    }
}

/// Only sets and announces its own flag when cancelled.
class FlagOperation: CountingOperation, @unchecked Sendable {
    private let flag = Atomic(false)

    override var isCancelled: Bool { flag.load(ordering: .acquiring) }

    override func cancel() {
        willChangeValue(forKey: "isCancelled")
        flag.store(true, ordering: .releasing)
        didChangeValue(forKey: "isCancelled")
    }
}

/// Tests its conditions when its dependencies are finished, from inside `isReady`.
final class EvaluatingOperation: Operation, @unchecked Sendable {
    private enum State { case initialized, pending, evaluating, ready, executing, finished }

    private let state = Guarded(State.initialized)
    let evaluations = Atomic(0)
    let mains = Atomic(0)
    /// The place where conditions are tested; nil for immediately.
    let evaluator: LoopThread?

    init(evaluator: LoopThread?) { self.evaluator = evaluator }

    func willEnqueue() { change(to: .pending, key: "isReady") }

    private func change(to new: State, key: String) {
        willChangeValue(forKey: key)
        state.withLock { $0 = new }
        didChangeValue(forKey: key)
    }

    override var isReady: Bool {
        switch state.withLock({ $0 }) {
        case .initialized: return isCancelled
        case .pending:
            guard !isCancelled else { return true }
            if super.isReady { evaluate() }
            return false
        case .ready: return super.isReady || isCancelled
        default: return false
        }
    }

    private func evaluate() {
        let mine = state.withLock { state in
            guard state == .pending else { return false }
            state = .evaluating
            return true
        }
        guard mine else { return }
        evaluations.add(1, ordering: .relaxed)
        guard let evaluator else { return change(to: .ready, key: "isReady") }
        evaluator.perform { [self] in change(to: .ready, key: "isReady") }
    }

    override var isExecuting: Bool { state.withLock { $0 == .executing } }
    override var isFinished: Bool { state.withLock { $0 == .finished } }

    override func start() {
        guard !isCancelled else { return change(to: .finished, key: "isFinished") }
        change(to: .executing, key: "isExecuting")
        mains.add(1, ordering: .relaxed)
        change(to: .finished, key: "isFinished")
    }
}

/// A queue that prepares each operation that is added.
final class EvaluatingQueue: OperationQueue, @unchecked Sendable {
    override func addOperation(_ op: Operation) {
        (op as? EvaluatingOperation)?.willEnqueue()
        super.addOperation(op)
    }
}
