import Operations
import Synchronization
import TestSupport
import Testing

/// Rule L7 for final classes, whose key paths equal those of no other class.
@Suite(.timeLimit(.minutes(5))) struct FinalClassTests {
    final class Final: Operation, @unchecked Sendable {
        // Sendable: the state is atomic.
        private let state = Atomic<Int>(0)
        private let isOpen = Atomic<Bool>(false)
        let started = Gate()

        override var isReady: Bool { isOpen.load(ordering: .acquiring) && super.isReady }
        override var isExecuting: Bool { state.load(ordering: .acquiring) == 1 }
        override var isFinished: Bool { state.load(ordering: .acquiring) == 2 }
        override var isAsynchronous: Bool { true }

        override func start() {
            willChangeValue(for: \.isExecuting)
            state.store(1, ordering: .releasing)
            didChangeValue(for: \.isExecuting)
            started.open()
        }

        func letGo() {
            willChangeValue(for: \.isReady)
            isOpen.store(true, ordering: .releasing)
            didChangeValue(for: \.isReady)
        }

        func finish() {
            willChangeValue(for: \.isExecuting)
            willChangeValue(for: \.isFinished)
            state.store(2, ordering: .releasing)
            didChangeValue(for: \.isFinished)
            didChangeValue(for: \.isExecuting)
        }
    }

    class Open: Operation, @unchecked Sendable {
        // Sendable: the priority is atomic.
        private let isUrgent = Atomic<Bool>(false)
        final override var queuePriority: QueuePriority {
            get { isUrgent.load(ordering: .acquiring) ? .veryHigh : .veryLow }
            set {}
        }

        func becomeUrgent() {
            willChangeValue(for: \.queuePriority)
            isUrgent.store(true, ordering: .releasing)
            didChangeValue(for: \.queuePriority)
        }
    }

    @Test func `a final class announces by key path`() {
        let queue = OperationQueue()
        let operation = Final()
        let ran = Gate()
        let dependent = BlockOperation { ran.open() }
        dependent.addDependency(operation)
        queue.addOperations([operation, dependent], waitUntilFinished: false)
        operation.letGo()
        operation.started.pass()
        operation.finish()
        ran.pass()
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `a final override announces by key path`() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let (gate, log) = (Gate(), Journal<String>())
        queue.addOperation { gate.pass() }
        queue.addOperation { log.append("normal") }
        let urgent = Open()
        urgent.completionBlock = { log.append("completed") }
        queue.addOperation(urgent)
        let last = BlockOperation { log.append("last") }
        last.queuePriority = .veryLow
        queue.addOperation(last)
        urgent.becomeUrgent()
        let mark = BlockOperation { log.append("after the urgent one") }
        mark.addDependency(urgent)
        mark.queuePriority = .veryHigh
        queue.addOperation(mark)
        gate.open()
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries.filter { $0 != "completed" } == ["after the urgent one", "normal", "last"])
    }
}
