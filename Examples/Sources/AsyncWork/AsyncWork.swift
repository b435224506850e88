import Operations
import OperationsFoundation

// Async closures with typed results, a subclass of `AsyncOperation`, and cancellation in both directions.
// A batch, a group, a retry, a condition, and plain tasks on the queue.

struct Unreachable: Error {}

enum Request {
    @TaskLocal static var id = "none"
}

/// A subclass of `AsyncOperation`.
final class Measure: AsyncOperation, @unchecked Sendable {
    // Sendable: `size` is written by `run()` and read after the end.
    private let page: Int
    private(set) var size = 0

    init(_ page: Int) { self.page = page }

    override func run() async throws { size = try await fetch(page).count }
}

/// Counts the visitors that are present.
actor Visitors {
    private var now = 0
    private(set) var most = 0

    func enter() {
        now += 1
        most = max(most, now)
    }

    func leave() { now -= 1 }
}

/// Simulates a request.
func fetch(_ page: Int) async throws -> String {
    await Task.yield()
    return "page \(page)"
}

@main
struct AsyncWork {
    static func main() async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 2

        let first = queue.addTask(name: "first") { try await fetch(1) }
        let length = queue.addTask(name: "length", after: [first]) { try await first.value.count }
        print("the length of the first page:", try await length.value)

        let measure = Measure(7)
        queue.addOperation(measure)
        await measure.waitUntilFinished()
        print("measured:", measure.size)

        print("all pages:", try await queue.map(1...4, atMost: 3) { try await fetch($0) })

        try await cancelling(in: queue)
        let id = try await Request.$id.withValue("42") { try await queue.addTask { Request.id }.value }
        print("the request of the caller:", id)

        let group = GroupOperation(policy: .waitForAll)
        for page in 1...3 {
            group.addChildTask(name: "child \(page)") { if page == 2 { throw Unreachable() } }
        }
        queue.addOperation(group)
        await group.waitUntilFinished()
        print("the group:", group.operationOutcome!)

        let attempts = RetryPolicy(retries: 3, backoff: .constant(.milliseconds(1)))
        let page = try await queue.run {
            try await attempts.run { attempt in
                guard attempt == 3 else { throw Unreachable() }
                return try await fetch(attempt)
            }
        }
        print("at the third attempt:", page)

        let unwanted = TaskOperation { print("never printed") }
        unwanted.addCondition(OperationCondition("wanted") { false })
        queue.addOperation(unwanted)
        await unwanted.waitUntilFinished()
        print("without its condition:", unwanted.operationOutcome!)

        try await plainTasks(on: queue)
    }

    /// Cancelling the operation cancels its task. Cancelling the task that awaits `run` cancels the operation.
    static func cancelling(in queue: OperationQueue) async throws {
        let endless = queue.addTask { try await Task.sleep(for: .seconds(3600)) }
        endless.cancel()
        await endless.waitUntilFinished()
        print("cancelled:", endless.operationOutcome!)

        let caller = Task { try await queue.run { try await Task.sleep(for: .seconds(3600)) } }
        caller.cancel()
        let result = await caller.result
        print("its caller was cancelled:", result)
    }

    /// A task takes a slot of the queue while it runs, and none while it is suspended.
    static func plainTasks(on queue: OperationQueue) async throws {
        let sum = await withTaskExecutorPreference(queue) {
            await withTaskGroup(of: Int.self) { group in
                for number in 1...20 {
                    group.addTask {
                        await Task.yield()
                        return OperationQueue.current === queue ? number : 0
                    }
                }
                return await group.reduce(0, +)
            }
        }
        print("the sum of twenty tasks on the queue:", sum)

        let visitors = Visitors()
        _ = try await queue.map(1...10) { _ in
            await visitors.enter()
            await Task.yield()
            await visitors.leave()
        }
        let most = await visitors.most
        precondition(most <= 2, "more than the queue is wide")
    }
}
