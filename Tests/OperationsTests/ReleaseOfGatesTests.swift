import Operations
import TestSupport
import Testing

/// Rules W5 and A10: what an operation was given is released when it has finished; and never under a lock.
@Suite(.timeLimit(.minutes(5))) struct ReleaseOfGatesTests {
    private final class Captured: Sendable {}

    enum End: CaseIterable { case runs, isCancelledBefore, fails }

    @Test(arguments: End.allCases)
    func `a finished operation holds none of its conditions`(end: End) async {
        let operation = Operation()
        var captured: Captured? = Captured()
        let weak = Weak(captured)
        operation.addCondition(
            OperationCondition("captures") { [captured] in
                withExtendedLifetime(captured) {}
                return end != .fails
            })
        captured = nil
        if end == .isCancelledBefore { operation.cancel() }
        await OperationQueue().addOperations([operation], waitUntilFinished: true)
        await weak.goes()
        #expect(weak.isGone)
        #expect(operation.isFinished)
    }

    @Test func `a condition that has captured its operation does not keep it`() async {
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
    func `a finished retry operation does not hold what makes its attempts`(end: End) async throws {
        struct Failure: Error {}
        var captured: Captured? = Captured()
        let weak = Weak(captured)
        let operation = RetryOperation(try RetryPolicy(retries: 0)) { [captured] _ in
            withExtendedLifetime(captured) {}
            return TaskOperation { if end == .fails { throw Failure() } }
        }
        captured = nil
        if end == .isCancelledBefore { operation.cancel() }
        await OperationQueue().addOperations([operation], waitUntilFinished: true)
        await weak.goes()
        #expect(weak.isGone)
        #expect(operation.isFinished)
    }

    /// Uses an operation in its `deinit`, which takes a lock of that operation.
    private final class UsesInDeinit: Error {
        let operation: Operation
        let count: Journal<String?>
        init(_ operation: Operation, _ count: Journal<String?>) { (self.operation, self.count) = (operation, count) }
        deinit { count.append(operation.name) }
    }

    @Test func `a dependency may be used in the deinit of what its former dependents held`() {
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
