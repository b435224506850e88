import Testing

#if PLAIN_FOUNDATION
import Foundation
#else
import OperationsFoundation
#endif

/// The style of operations that evaluate their own conditions inside `isReady`, when they are otherwise ready.
final class ConditionedOperation: Operation, @unchecked Sendable {
    // Sendable: locks guard the mutable state, and the rest is constant.
    enum Evaluation { case pending, underWay, done }

    private let evaluation = Kept(Evaluation.pending)
    private let condition: @Sendable () -> Bool
    private let log: Log

    init(_ log: Log, condition: @escaping @Sendable () -> Bool) {
        self.log = log
        self.condition = condition
    }

    override var isReady: Bool {
        guard super.isReady else { return false }
        switch evaluation() {
        case .pending: evaluate()
        case .underWay: break
        case .done: return true
        }
        return isCancelled
    }

    private func evaluate() {
        guard evaluation.exchange(.underWay) == .pending else { return }
        DispatchQueue.global().async {
            self.log.append("evaluated")
            if !self.condition() { self.cancel() }
            self.willChangeValue(forKey: "isReady")
            self.evaluation.set(.done)
            self.didChangeValue(forKey: "isReady")
        }
    }

    override func main() { log.append("main") }
}

@Suite(.timeLimit(.minutes(1))) struct ConditionsStyle {
    @Test func `conditions are evaluated once, after the dependencies`() {
        let (queue, log) = (OperationQueue(), Log())
        let operation = ConditionedOperation(log) { true }
        let dependency = BlockOperation { log.append("dependency") }
        operation.addDependency(dependency)
        queue.addOperation(operation)
        #expect(log.entries.isEmpty)
        queue.addOperation(dependency)
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == ["dependency", "evaluated", "main"])
    }

    @Test func `an operation whose condition fails is cancelled, and skips its work`() {
        let (queue, log) = (OperationQueue(), Log())
        let operation = ConditionedOperation(log) { false }
        queue.addOperation(operation)
        queue.waitUntilAllOperationsAreFinished()
        #expect(operation.isCancelled && log.entries == ["evaluated"])
    }

    /// A procedure that is added to a queue only when it is ready. Its `isReady` is called while it is in no queue.
    @Test func `the end of a dependency makes an operation without a queue evaluate its conditions`() {
        let log = Log()
        let evaluated = DispatchSemaphore(value: 0)
        let operation = ConditionedOperation(log) {
            evaluated.signal()
            return true
        }
        let dependency = Operation()
        operation.addDependency(dependency)
        dependency.start()
        evaluated.wait()
        #expect(log.entries == ["evaluated"])
    }
}
