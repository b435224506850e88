// A file of XCTest tests. XCTest exports Foundation. The file has one additional line: `import OperationsFoundation`.
import OperationsFoundation
import XCTest

/// This class has the name of one of this project's additions, and must not collide with it (rule A6).
class AsyncOperation: Operation, @unchecked Sendable {
    override func main() { name = "ran" }
}

/// A test case for XCTest, which `AdoptionWithXCTestTests` calls too.
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

    /// The meaning of `Operation` in this file.
    static var meaning: ObjectIdentifier { ObjectIdentifier(Operation.self) }
}
