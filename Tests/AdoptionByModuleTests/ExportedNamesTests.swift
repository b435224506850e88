// This file imports only the drop-in module, so it may use the names of this project's additions (rule A6).
import OperationsFoundation
import Testing

private class AsyncOperation: Operation, @unchecked Sendable {}
private class GroupOperation: Operation, @unchecked Sendable {}
private struct OperationCondition {}
private struct OperationError: Error {}
private struct KeyValueKey {}
private enum Invocation {}

/// Rule A6.
@Suite struct ExportedNamesTests {
    @Test func `a user's AsyncOperation, GroupOperation and OperationCondition do not collide`() {
        let operations: [Operation] = [AsyncOperation(), GroupOperation()]
        OperationQueue().addOperations(operations, waitUntilFinished: true)
        #expect(operations.allSatisfy { $0.isFinished })
        let types: [Any.Type] = [
            AsyncOperation.self, GroupOperation.self, OperationCondition.self, OperationError.self, KeyValueKey.self,
            Invocation.self,
        ]
        #expect(types.allSatisfy { String(reflecting: $0).hasPrefix("AdoptionByModuleTests.") })
    }

    @Test func `the names of Foundation mean this project's types`() {
        let types: [Any.Type] = [
            Operation.self, BlockOperation.self, InvocationOperation.self, OperationQueue.self, QualityOfService.self,
            Selector.self, NSKeyValueChange.self, NSKeyValueChangeKey.self, NSKeyValueObservation.self,
            NSKeyValueObservedChange<Int>.self, NSKeyValueObservingOptions.self, NSKeyValueSetMutationKind.self,
        ]
        for type in types {
            let name = String(reflecting: type)
            #expect(name.hasPrefix("Operations.") || name.hasPrefix("KeyValueObserving."))
        }
        #expect(!NSInvocationOperationVoidResultException.isEmpty)
    }

    @Test func `an operation is observed by key path`() {
        let operation = BlockOperation {}
        nonisolated(unsafe) var changes = 0
        let token = operation.observe(\.isFinished, options: [.new]) { _, change in
            if change.newValue == true { changes += 1 }
        }
        operation.start()
        #expect(changes == 1)
        token.invalidate()
    }
}
