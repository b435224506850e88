import Operations
import OperationsFoundation

// Outcomes of operations, the reactions of dependents, and groups of operations that end together.

struct NotFound: Error {}

/// A plain operation that reports its failure in its work.
final class Load: Operation, @unchecked Sendable {
    // Sendable: nothing changes.
    override func main() { reportFailure(NotFound()) }
}

/// A group that creates its children when it starts.
final class Archive: GroupOperation, @unchecked Sendable {
    // Sendable: nothing changes.
    override func run() async throws {
        for part in 1...3 { addChildTask(name: "part \(part)") { await Task.yield() } }
        try await super.run()
    }
}

@main
struct OutcomesAndGroups {
    static func main() async throws {
        let queue = OperationQueue()
        await policies(in: queue)
        await unseen(in: queue)
        try await groups(in: queue)
    }

    /// Each dependent chooses its own reaction to a failure.
    static func policies(in queue: OperationQueue) async {
        let load = Load()
        load.name = "load"
        let clean = BlockOperation { print("cleaned up, for every outcome of the loading") }
        let show = TaskOperation { print("never printed") }
        show.dependencyFailurePolicy = .cancel
        let report = TaskOperation { print("never printed") }
        report.dependencyFailurePolicy = .fail
        for dependent in [clean, show, report] { dependent.addDependency(load) }
        let mail = TaskOperation { print("never printed") }
        mail.dependencyFailurePolicy = .fail
        mail.addDependency(report)
        await queue.addOperations([load, clean, show, report, mail], waitUntilFinished: true)

        for (name, operation) in [("load", load), ("clean", clean), ("show", show), ("report", report)] {
            print("\(name):", operation.operationOutcome!)
        }
        guard case .failed(let error as DependencyFailure)? = mail.operationOutcome else { fatalError() }
        precondition(error.rootCause is NotFound)
    }

    /// A failed operation that is released before any code has read its outcome.
    static func unseen(in queue: OperationQueue) async {
        let (failures, notified) = AsyncStream.makeStream(of: UnhandledFailure.self)
        queue.name = "downloads"
        queue.unhandledFailureHandler = { notified.yield($0) }
        queue.addTask(name: "forgotten") { throw NotFound() }
        for await failure in failures {
            print(failure)
            break
        }
    }

    static func groups(in queue: OperationQueue) async throws {
        let all = GroupOperation(policy: .failFast) { [BlockOperation {}, Load()] }
        let each = GroupOperation(policy: .waitForAll) { [Load(), BlockOperation {}, Load()] }
        let any = GroupOperation(policy: .firstSuccess) { [Load(), BlockOperation {}] }
        each.maxConcurrentOperationCount = 1
        let after = BlockOperation { print("after the groups") }
        for group in [all, each, any] { after.addDependency(group) }
        await queue.addOperations([all, each, any, after], waitUntilFinished: true)
        print("fail fast:", all.operationOutcome!)
        guard case .failed(let error as GroupFailure)? = each.operationOutcome else { fatalError() }
        print("supervise:", error.failures.count, "of the group failed")
        print("first success:", any.operationOutcome!)

        let archive = Archive()
        queue.addOperation(archive)
        await archive.waitUntilFinished()
        print("archive:", archive.operationOutcome!)

        let squares = try await queue.map(1...5, atMost: 2) { $0 * $0 }
        print("squares:", squares)
    }
}
