import Dispatch
import Operations
import TestSupport
import Testing

/// Rule W1 on queues of Dispatch, which may have one thread: a completion block delays no other operation.
@Suite(.onOwnThread, .timeLimit(.minutes(1)), .tags(.threads)) struct CompletionBesideTests {
    enum Kind: CaseIterable { case block, subclass, asynchronous, task }

    @Test(arguments: Kind.allCases)
    func `a completion block may wait for the next operation of a serial dispatch queue`(kind: Kind) {
        let queue = OperationQueue()
        queue.underlyingQueue = DispatchQueue(label: "serial")
        completionWaitsForNext(kind, in: queue)
    }

    @Test(arguments: Kind.allCases)
    func `a completion block may wait for a dependent in a serial dispatch queue`(kind: Kind) {
        let queue = OperationQueue()
        queue.underlyingQueue = DispatchQueue(label: "serial")
        completionWaitsForNext(kind, in: queue, dependent: true)
    }

    @Test func `a completion block may wait for the next operation of the main queue`() async {
        let (first, next, hasWaited) = (BlockOperation {}, BlockOperation {}, AsyncGate())
        first.completionBlock = {
            waitForEnd(of: next)
            hasWaited.open()
        }
        for operation in [first, next] { OperationQueue.main.addOperation(operation) }
        await hasWaited.pass()
    }

    private func completionWaitsForNext(_ kind: Kind, in queue: OperationQueue, dependent: Bool = false) {
        let (first, next, hasWaited) = (operation(kind), BlockOperation {}, Gate())
        first.completionBlock = {
            waitForEnd(of: next)
            hasWaited.open()
        }
        if dependent { next.addDependency(first) }
        queue.addOperations([first, next], waitUntilFinished: false)
        hasWaited.pass()
        queue.waitUntilAllOperationsAreFinished()
    }

    private func operation(_ kind: Kind) -> Operations.Operation {
        switch kind {
        case .block: BlockOperation {}
        case .subclass: Subclass()
        case .asynchronous: Ending()
        case .task: TaskOperation { await Task.yield() }
        }
    }
}

private final class Subclass: Operation, @unchecked Sendable {
    override func main() {}
}

/// An operation that announces its end inside `start()`.
private final class Ending: Operation, @unchecked Sendable {
    private let isOver = Guarded(false)

    override var isFinished: Bool { isOver.withLock { $0 } }
    override var isAsynchronous: Bool { true }

    override func start() {
        willChangeValue(forKey: "isFinished")
        isOver.withLock { $0 = true }
        didChangeValue(forKey: "isFinished")
    }
}

private func waitForEnd(of operation: Operations.Operation) { operation.waitUntilFinished() }
