// Another file of the same module, with the first way in beside it.
import OperationsFoundation
import Testing

/// Rule A6: `import OperationsXCTest` in place of `import XCTest`.
@Suite struct AdoptionWithXCTestTests {
    @Test func `in a file of tests the names mean this project's classes`() {
        #expect(ClassicTestCase.meaning == ObjectIdentifier(Operation.self))
        #expect(String(reflecting: Operation.self) == "Operations.Operation")
    }

    @Test func `a class of the user's may have the name of an addition`() {
        let operation = AsyncOperation()
        operation.start()
        #expect(operation.isFinished && operation.name == "ran")
        #expect(String(reflecting: AsyncOperation.self) == "AdoptionWithXCTestTests.AsyncOperation")
    }
}
