import Operations
import TestSupport
import Testing

/// Rules B3, M5 and W5: blocks that are added too late, and the release of blocks.
@Suite(.timeLimit(.minutes(5)), .tags(.release)) struct BlockOperationLifetimeTests {
    /// Rules B3, M5.
    @Test func `a block for a finished operation is refused and nothing changes`() {
        let operation = BlockOperation()
        operation.start()
        #expect(throws: OperationError.lateExecutionBlock(operation: operation.queueTestLabel)) {
            try operation.tryAddExecutionBlock {}
        }
        #expect(operation.executionBlocks.isEmpty)
    }

    /// Rules B3, M5.
    @Test func `a block for an operation that executes is refused and does not run`() {
        let queue = OperationQueue()
        let (started, gate, runs) = (Gate(), Gate(), Atomic64())
        let operation = BlockOperation {
            started.open()
            gate.pass()
        }
        queue.addOperation(operation)
        started.pass()
        #expect(throws: OperationError.self) { try operation.tryAddExecutionBlock { runs.add(1) } }
        gate.open()
        operation.waitUntilFinished()
        #expect(runs.value == 0)
    }

    /// Rules B3, M5: from inside one of its own blocks.
    @Test func `a block cannot add another to its own operation`() {
        let refused = Atomic64()
        let operation = BlockOperation()
        for _ in 0..<3 {
            operation.addExecutionBlock { [unowned operation] in
                do { try operation.tryAddExecutionBlock {} } catch { refused.add(1) }
            }
        }
        operation.start()
        #expect(refused.value == 3)
    }

    /// Rule B3: a block added while the operation waits in a queue is not too late.
    @Test func `blocks may be added while the operation waits`() {
        let held = HeldQueue()
        let runs = Atomic64()
        let operation = BlockOperation { runs.add(1) }
        held.queue.addOperation(operation)
        for _ in 0..<5 { operation.addExecutionBlock { runs.add(1) } }
        held.release()
        #expect(runs.value == 6)
    }

    /// Rule M5.
    @Test func `the plain member stops the process and names the rule`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let operation = BlockOperation()
            operation.name = "late one"
            operation.start()
            operation.addExecutionBlock {}
        }
        let message = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
        #expect(message.contains("Add blocks before it starts"))
        #expect(message.contains("late one"))
    }

    /// Rule W5.
    @Test(arguments: [1, 2, 5]) func `the captures of the blocks are released when the operation is finished`(
        count: Int
    ) {
        for _ in 0..<100 {
            let queue = OperationQueue()
            let operation = BlockOperation()
            let captured = (0..<count).map { _ in
                let object = Captured()
                operation.addExecutionBlock { object.use() }
                return Weak(object)
            }
            queue.addOperations([operation], waitUntilFinished: true)
            #expect(captured.allSatisfy { $0.isGone })
        }
    }

    /// Rule W5: a block is released as soon as it has run, not after the other blocks.
    @Test func `the captures of a block are released while another block still runs`() {
        let queue = OperationQueue()
        let (released, gate) = (Gate(), Gate())
        let operation = BlockOperation()
        for _ in 0..<3 {
            let object = Captured(onRelease: released)
            operation.addExecutionBlock { object.use() }
        }
        operation.addExecutionBlock { gate.pass() }
        queue.addOperation(operation)
        released.pass()
        gate.open()
        operation.waitUntilFinished()
    }

    /// Rule W5.
    @Test func `a cancelled operation releases its blocks`() {
        let queue = OperationQueue()
        let operation = BlockOperation()
        let captured = (0..<3).map { _ in
            let object = Captured()
            operation.addExecutionBlock { object.use() }
            return Weak(object)
        }
        operation.cancel()
        queue.addOperations([operation], waitUntilFinished: true)
        #expect(captured.allSatisfy { $0.isGone })
        #expect(operation.executionBlocks.isEmpty)
    }

    /// Adds a block in `main()`, before the blocks are taken to run.
    private final class AddsLate: BlockOperation, @unchecked Sendable {
        let (refused, runs) = (Atomic64(), Atomic64())

        override func main() {
            do { try tryAddExecutionBlock { [runs] in runs.add(1) } } catch { refused.add(1) }
            super.main()
        }
    }

    /// Rules B3, M5: the operation executes from the beginning of `main()` on.
    @Test(arguments: [true, false]) func `an overridden main cannot add a block`(inQueue: Bool) {
        let operation = AddsLate()
        if inQueue { OperationQueue().addOperations([operation], waitUntilFinished: true) } else { operation.start() }
        #expect(operation.refused.value == 1 && operation.runs.value == 0)
    }
}

private final class Captured: Sendable {
    private let onRelease: Gate?

    init(onRelease: Gate? = nil) { self.onRelease = onRelease }

    deinit { onRelease?.open() }

    func use() {}
}
