import OperationsFoundation
import Testing

@Suite struct DropInNamesTests {
    @Test func `a module that imports only OperationsFoundation gets this project's Operation`() {
        #expect(ObjectIdentifier(Operation.self) == ObjectIdentifier(Operations.Operation.self))
    }
}
