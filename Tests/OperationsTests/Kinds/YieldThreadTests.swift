import Operations
import TestSupport
import Testing

/// `Task.yield()` in async operations on threads. The worker of a task that yields promises to look for it.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct YieldThreadTests {
    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `a child that yields continues although its parent blocks the worker`() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let operation = queue.addTask {
            let gate = Gate()
            await withTaskGroup(of: Void.self) { group in
                group.addImmediateTask {
                    await Task.yield()
                    gate.open()
                }
                gate.pass()
            }
        }
        operation.waitUntilFinished()
        #expect(operation.isFinished)
    }

    @available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *)
    @Test func `a child that yields continues although its parent waits for an operation of the queue`() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 2
        let operation = queue.addTask {
            let other = BlockOperation {}
            await withTaskGroup(of: Void.self) { group in
                group.addImmediateTask {
                    await Task.yield()
                    queue.addOperation(other)
                }
                block(on: other)
            }
        }
        operation.waitUntilFinished()
        #expect(operation.isFinished)
    }

    @Test func `operations that yield all finish at any width`() async throws {
        for width in [1, 2, 3, 64] {
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = width
            let counter = YieldCounter()
            for number in 0..<200 {
                queue.addTask {
                    for _ in 0..<(number % 5) { await Task.yield() }
                    await counter.count()
                    await Task.yield()
                }
            }
            await queue.waitUntilAllOperationsAreFinished()
            #expect(try await queue.run { await counter.total } == 200)
        }
    }
}

/// Blocks the thread.
private func block(on operation: Operation) { operation.waitUntilFinished() }

private actor YieldCounter {
    private(set) var total = 0

    func count() async {
        await Task.yield()
        total += 1
    }
}
