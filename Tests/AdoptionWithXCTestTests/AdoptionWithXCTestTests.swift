// Another file of the same module, with all the imports that a file may have in addition to the drop-in module.
import Foundation
import Operations
import OperationsFoundation
import Testing

/// Rule A6: `import OperationsFoundation` together with `import XCTest` and `import Foundation`.
@Suite struct AdoptionWithXCTestTests {
    @Test func `in a file of tests the names mean this project's classes`() {
        #expect(ClassicTestCase.meaning == ObjectIdentifier(Operation.self))
        #expect(String(reflecting: Operation.self) == "Operations.Operation")
    }

    /// If the name had two meanings, the closure would be ambiguous.
    @Test func `a task in a block is not ambiguous in a file that also imports the additions`() async {
        let (stream, end) = AsyncStream.makeStream(of: Void.self)
        let operation = BlockOperation {
            Task {
                for await _ in stream {}
                end.finish()
            }
        }
        operation.start()
        end.finish()
        #expect(operation.isFinished)
    }

    @Test func `a user's class may have the name of an addition`() {
        let operation = AsyncOperation()
        operation.start()
        #expect(operation.isFinished && operation.name == "ran")
        #expect(String(reflecting: AsyncOperation.self) == "AdoptionWithXCTestTests.AsyncOperation")
    }
}
