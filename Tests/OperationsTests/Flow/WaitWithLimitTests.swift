@testable import Operations
import OperationsTesting
import TestSupport
import Testing

/// Rules W1, A15: waits that end with a time or with their task.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct WaitWithLimitTests {
    @Test func `a thread waits for a queue no longer than a time`() {
        let held = HeldQueue()
        #expect(!held.queue.waitUntilAllOperationsAreFinished(timeout: .milliseconds(5)))
        #expect(!held.queue.waitUntilAllOperationsAreFinished(timeout: .zero))
        let waiter = TestThread { #expect(held.queue.waitUntilAllOperationsAreFinished(timeout: .seconds(1000))) }
        held.release()
        waiter.join()
        #expect(held.queue.waitUntilAllOperationsAreFinished(timeout: .zero))
    }

    @Test func `a thread waits for an operation no longer than a time`() {
        let (queue, gate) = (OperationQueue(), Gate())
        let operation = BlockOperation { gate.pass() }
        queue.addOperation(operation)
        #expect(!operation.waitUntilFinished(timeout: .milliseconds(5)))
        #expect(!operation.waitUntilFinished(timeout: .zero))
        let waiter = TestThread { #expect(operation.waitUntilFinished(timeout: .seconds(1000))) }
        gate.open()
        waiter.join()
        #expect(operation.waitUntilFinished(timeout: .zero))
    }

    /// The limit of each wait passes at about the end of the operation.
    @Test func `the end of a limit and the end of the operation never wake a thread twice or not at all`() {
        let queue = OperationQueue()
        for round in 0..<Stress.rounds(2000, small: 200) {
            let operation = BlockOperation {}
            queue.addOperation(operation)
            let isInTime = operation.waitUntilFinished(timeout: .microseconds(round % 50))
            if isInTime { #expect(operation.isFinished) }
            operation.waitUntilFinished()
        }
    }

    @Test func `a task waits for a queue and for an operation no longer than a time`() async {
        let (queue, begun, gate) = (OperationQueue(), AsyncGate(), AsyncGate())
        let task = queue.addTask {
            begun.open()
            await gate.pass()
        }
        await begun.pass()
        #expect(await !queue.waitUntilAllOperationsAreFinished(timeout: .milliseconds(5)))
        #expect(await !task.waitUntilFinished(timeout: .milliseconds(5)))
        async let first = queue.waitUntilAllOperationsAreFinished(timeout: .seconds(1000))
        async let second = task.waitUntilFinished(timeout: .seconds(1000))
        gate.open()
        #expect(await first)
        #expect(await second)
        #expect(await queue.waitUntilAllOperationsAreFinished(timeout: .zero))
        #expect(await task.waitUntilFinished(timeout: .zero))
    }

    @Test func `a cancelled task waits no longer for a queue, and the operations continue`() async {
        let (queue, gate) = (OperationQueue(), AsyncGate())
        let work = queue.addTask { await gate.pass() }
        let waiter = Task { await queue.waitUntilAllOperationsAreFinished() }
        let cancelledBefore = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await queue.waitUntilAllOperationsAreFinished()
        }
        await cancelledBefore.value
        waiter.cancel()
        await waiter.value
        #expect(!work.isFinished && !work.isCancelled)
        gate.open()
        await queue.waitUntilAllOperationsAreFinished()
        #expect(work.operationOutcome == .succeeded)
    }

    /// A wait is removed from the list while other waits are woken, removed and added.
    @Test func `waits that end early and waits that end with the queue never disturb each other`() async {
        for round in 0..<Stress.rounds(200) {
            let (queue, gate) = (OperationQueue(), AsyncGate())
            let work = queue.addTask { await gate.pass() }
            let waiters = (0..<20).map { _ in Task { await queue.waitUntilAllOperationsAreFinished() } }
            let operationWaiters = (0..<20).map { _ in Task { await work.waitUntilFinished(timeout: .seconds(1000)) } }
            for index in stride(from: round % 3, to: 20, by: 3) {
                waiters[index].cancel()
                operationWaiters[index].cancel()
            }
            gate.open()
            for waiter in waiters { await waiter.value }
            for (index, waiter) in operationWaiters.enumerated() {
                let isInTime = await waiter.value
                if (index - round % 3) % 3 != 0 { #expect(isInTime) }
            }
        }
    }
}
