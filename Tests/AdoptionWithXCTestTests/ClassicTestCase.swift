// A file of tests written for XCTest, which exports Foundation. One line is added: `import OperationsFoundation`.
import OperationsFoundation
import XCTest

/// Has the name of one of this project's additions, which must not collide (rule A6).
class AsyncOperation: Operation, @unchecked Sendable {
    override func main() { name = "ran" }
}

/// Not meant to be found by XCTest alone: `AdoptionWithXCTestTests` calls it too.
final class ClassicTestCase: XCTestCase {
    func testRunsToItsEnd() {
        let queue = OperationQueue()
        queue.qualityOfService = QualityOfService.utility
        let operation = AsyncOperation()
        let done = XCTestExpectation(description: "done")
        operation.completionBlock = { done.fulfill() }
        queue.addOperation(operation)
        wait(for: [done], timeout: 60)
        XCTAssertTrue(operation.isFinished)
        XCTAssertEqual(operation.name, "ran")
        XCTAssertEqual(operation, operation)
    }

    /// What `Operation` means in this file.
    static var meaning: ObjectIdentifier { ObjectIdentifier(Operation.self) }
}
