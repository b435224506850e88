import OperationsFoundation

// Async closures with typed results, in a queue with a width; a group; a batch; a condition; a retry.

struct Unreachable: Error {}

/// Stands for something that takes its time.
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

        print("all pages:", try await queue.map(1...4, atMost: 3) { try await fetch($0) })

        let group = GroupOperation(policy: .supervise)
        for page in 1...3 {
            group.addChildTask(name: "child \(page)") { if page == 2 { throw Unreachable() } }
        }
        queue.addOperation(group)
        await group.waitUntilFinished()
        print("the group:", group.operationOutcome!)

        let attempts = try RetryPolicy(retries: 3, backoff: .constant(.milliseconds(1)))
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
    }
}
