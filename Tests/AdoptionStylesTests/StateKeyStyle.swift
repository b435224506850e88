import Testing

#if PLAIN_FOUNDATION
import Foundation
#else
import OperationsFoundation
#endif

/// The style of a single state. The properties of the class derive from the state, and only its changes are announced.
class StateKeyOperation: Operation, @unchecked Sendable {
    // Sendable: a lock guards the state.
    enum State { case initial, ready, executing, finished }

    private let kept = Kept(State.initial)

    final var state: State {
        get { kept() }
        set {
            willChangeValue(forKey: "state")
            kept.set(newValue)
            didChangeValue(forKey: "state")
        }
    }

    #if !PLAIN_FOUNDATION
    override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
        switch key {
        case "isReady", "isExecuting", "isFinished": ["state"]
        default: super.keyPathsForValuesAffectingValue(forKey: key)
        }
    }
    #endif

    override var isReady: Bool { super.isReady && state != .initial }
    override var isExecuting: Bool { state == .executing }
    override var isFinished: Bool { state == .finished }
    override var isAsynchronous: Bool { true }

    override func start() {
        guard !isCancelled else {
            state = .finished
            return
        }
        state = .executing
        DispatchQueue.global().async {
            self.main()
            self.state = .finished
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct StateKeyStyle {
    private final class Step: StateKeyOperation, @unchecked Sendable {
        private let log: Log

        init(_ name: String, _ log: Log) {
            self.log = log
            super.init()
            self.name = name
        }

        override func main() { log.append(name ?? "") }
    }

    @Test func `the queue follows the state from waiting to the end`() {
        let (queue, log) = (OperationQueue(), Log())
        let (first, second) = (Step("first", log), Step("second", log))
        second.addDependency(first)
        let completed = DispatchSemaphore(value: 0)
        second.completionBlock = { completed.signal() }
        queue.addOperations([second, first], waitUntilFinished: false)
        second.state = .ready
        first.state = .ready
        completed.wait()
        #expect(log.entries == ["first", "second"])
    }

    #if !PLAIN_FOUNDATION
    @Test func `observers of the derived properties are notified`() {
        let (operation, log) = (Step("only", Log()), Log())
        let tokens = [
            operation.observe(\.isReady) { operation, _ in log.append("ready \(operation.isReady)") },
            operation.observe(\.isFinished) { operation, _ in log.append("finished \(operation.isFinished)") },
        ]
        operation.state = .ready
        #expect(log.entries.contains("ready true") && !log.entries.contains("finished true"))
        operation.start()
        operation.waitUntilFinished()
        #expect(log.entries.contains("finished true"))
        for token in tokens { token.invalidate() }
    }
    #endif
}
