import Operations
import TestSupport
import Testing

/// Rules W5 and A10: the conditions and requirements of an operation are released when it has finished, and never under a
/// lock.
@Suite(.timeLimit(.minutes(5)), .tags(.release)) struct ReleaseOfGatesTests {
    private final class Captured: Sendable {}

    enum End: CaseIterable { case runs, isCancelledBefore, fails }

    /// Runs an operation to its end in a queue, and expects that it then no longer holds the object it captured.
    private func expectRelease(_ end: End, by make: (Captured) throws -> Operations.Operation) async rethrows {
        let (operation, weak) = try {
            let captured = Captured()
            return (try make(captured), Weak(captured))
        }()
        if end == .isCancelledBefore { operation.cancel() }
        await OperationQueue().addOperations([operation], waitUntilFinished: true)
        await weak.goes()
        #expect(weak.isGone)
        #expect(operation.isFinished)
    }

    @Test(arguments: End.allCases)
    func `a finished operation has released its conditions`(end: End) async {
        await expectRelease(end) { captured in
            let operation = Operation()
            operation.addCondition(
                OperationCondition("captures") {
                    withExtendedLifetime(captured) {}
                    return end != .fails
                })
            return operation
        }
    }

    @Test func `a condition that has captured its operation does not keep the operation alive`() async {
        var operation: Operation? = Operation()
        let weak = Weak(operation)
        if let operation {
            operation.addCondition(OperationCondition("captures") { !operation.isFinished })
            await OperationQueue().addOperations([operation], waitUntilFinished: true)
        }
        operation = nil
        await weak.goes()
        #expect(weak.isGone)
    }

    @Test(arguments: End.allCases)
    func `a finished retry operation has released the closure for its attempts`(end: End) async throws {
        struct Failure: Error {}
        await expectRelease(end) { captured in
            RetryOperation(RetryPolicy(retries: 0)) { _ in
                withExtendedLifetime(captured) {}
                return TaskOperation { if end == .fails { throw Failure() } }
            }
        }
    }

    /// Uses an operation in its `deinit`, which takes a lock of that operation.
    private final class UsesInDeinit: Error {
        let operation: Operation
        let count: Journal<String?>
        init(_ operation: Operation, _ count: Journal<String?>) { (self.operation, self.count) = (operation, count) }
        deinit { count.append(operation.name) }
    }

    @Test func `objects of former dependents may use the dependency in their deinit`() {
        let dependency = BlockOperation {}
        dependency.name = "dependency"
        let names = Journal<String?>()
        for _ in 0..<100 {
            let dependent = Operation()
            dependent.addDependency(dependency)
            dependent.reportFailure(UsesInDeinit(dependency, names))
        }
        #expect(names.entries == Array(repeating: "dependency", count: 100))
        dependency.start()
    }
}
