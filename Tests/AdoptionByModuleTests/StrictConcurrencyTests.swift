import OperationsFoundation
import Testing

/// The requirements of strict concurrency for users' code (rule U3). A warning fails the build of this target.
@Suite struct StrictConcurrencyTests {
    /// A subclass without stored properties needs only the inherited conformance.
    private class Stateless: Operation, @unchecked Sendable {
        override func main() { name = "ran" }
    }

    /// A subclass with constant properties also needs only the inherited conformance.
    private final class Constant: Stateless, @unchecked Sendable {
        let number: Int

        init(_ number: Int) {
            self.number = number
            super.init()
        }
    }

    /// Mutable state belongs in an actor or behind a lock.
    private actor Results {
        private(set) var numbers: [Int] = []
        func append(_ number: Int) { numbers.append(number) }
    }

    /// An operation that announces its own property in addition to the inherited properties.
    private final class Ready: Operation, @unchecked Sendable {
        // Sendable: a lock guards the flag.
        private let lock = NSLock()
        private var isOpen = false

        override var isReady: Bool { super.isReady && lock.withLock { isOpen } }

        func open(spellsOutType: Bool) {
            if spellsOutType { willChangeValue(for: \Ready.isReady) } else { willChangeValue(for: \.isReady) }
            lock.withLock { isOpen = true }
            if spellsOutType { didChangeValue(for: \Ready.isReady) } else { didChangeValue(for: \.isReady) }
        }
    }

    @Test func `operations and queues can be sent between tasks and actors`() async {
        let queue = OperationQueue()
        let results = Results()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<10 {
                let operation = Constant(number)
                queue.addOperation(operation)
                group.addTask {
                    await operation.waitUntilFinished()
                    await results.append(operation.number)
                }
            }
        }
        #expect(await results.numbers.sorted() == Array(0..<10))
    }

    @Test func `blocks are sendable closures, and capture sendable values`() async {
        let queue = OperationQueue()
        let words = Order()
        let block: @Sendable () -> Void = { words.append("block") }
        let operation = BlockOperation(block: block)
        operation.addExecutionBlock { words.append("another") }
        operation.completionBlock = { [weak queue] in queue?.addOperation { words.append("completion") } }
        await queue.addOperations([operation], waitUntilFinished: true)
        await queue.waitUntilAllOperationsAreFinished()
        queue.addBarrierBlock { words.append("barrier") }
        await queue.waitUntilAllOperationsAreFinished()
        #expect(Set(words.list).isSuperset(of: ["block", "another", "barrier"]))
    }

    @Test(.timeLimit(.minutes(5)), arguments: [false, true])
    func `announcements by key path can be made on any thread, also in a final class`(spellsOutType: Bool) async {
        let operation = Ready()
        let queue = OperationQueue()
        queue.addOperation(operation)
        await Task.detached { operation.open(spellsOutType: spellsOutType) }.value
        await operation.waitUntilFinished()
        #expect(operation.isFinished)
    }

    @MainActor private final class Screen {
        var title = ""
    }

    @Test @MainActor func `blocks of the main queue run on the main actor`() async {
        let screen = Screen()
        await withCheckedContinuation { continuation in
            OperationQueue.main.addOperation {
                MainActor.assumeIsolated { screen.title = "done" }
                continuation.resume()
            }
        }
        #expect(screen.title == "done")
    }

    @Test func `states of progress are observed from a task`() async {
        let queue = OperationQueue()
        queue.progress.totalUnitCount = 3
        let observer = Task {
            for await update in queue.progressUpdates where update.fractionCompleted == 1 { return true }
            return false
        }
        for _ in 0..<3 { queue.addOperation {} }
        #expect(await observer.value)
    }
}
