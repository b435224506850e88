import OperationsFoundation
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Rule A5: operations and queues are objects, as in Foundation. Plain Foundation compiles this file too.
@Suite struct ObjectTests {
    /// An operation that is the delegate of its own transfer.
    private final class Transfer: Operation, URLSessionDataDelegate, ProgressReporting, @unchecked Sendable {
        // Sendable: in these tests, the threads use the operation one after the other.
        let progress = Progress(totalUnitCount: 1)
        private(set) var received = Data()

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            received.append(data)
        }
    }

    /// An operation that equals other operations with the same key.
    private final class Keyed: Operation, @unchecked Sendable {
        let key: String

        init(_ key: String) { self.key = key }

        override func isEqual(_ object: Any?) -> Bool { (object as? Keyed)?.key == key }
        override var hash: Int { key.hashValue }
        override var description: String { "keyed \(key)" }
        override var debugDescription: String { "debugged \(key)" }
    }

    private final class NamedQueue: OperationQueue, @unchecked Sendable {
        override func isEqual(_ object: Any?) -> Bool { (object as? NamedQueue)?.name == name }
        override var hash: Int { name.hashValue }
        override var description: String { "named" }
        override var debugDescription: String { "debugged" }
    }

    @Test func `an operation is the delegate of a session and reports progress`() {
        let transfer = Transfer()
        let session = URLSession(configuration: .default, delegate: transfer, delegateQueue: nil)
        #expect(session.delegate === transfer)
        let reporter: any ProgressReporting = transfer
        #expect(reporter.progress.totalUnitCount == 1)
        session.invalidateAndCancel()
    }

    @Test func `an operation and a queue are passed as objects`() {
        let (operation, queue) = (Operation(), OperationQueue())
        for object in [operation, queue] as [any NSObjectProtocol] {
            #expect(object.isEqual(object) && !object.isEqual(nil) && !object.isProxy())
            #expect(!object.isEqual(Operation()) && !object.isEqual("text"))
            #expect(object.`self`() === object && object.hash == object.hash)
            #expect(object.description.contains("0x") && object.debugDescription == object.description)
        }
    }

    @Test func `overrides of isEqual, hash and the descriptions are used`() {
        let operations = [Keyed("a"), Keyed("b"), Keyed("a")]
        #expect(operations[0] == operations[2] && operations[0] != operations[1])
        #expect(Set(operations).count == 2 && operations.firstIndex(of: operations[2]) == 0)
        #expect("\(operations[0])" == "keyed a" && String(reflecting: operations[0]) == "debugged a")
        let queues = [NamedQueue(), NamedQueue()]
        for queue in queues { queue.name = "same" }
        #expect(queues[0] == queues[1] && Set(queues).count == 1)
        #expect("\(queues[0])" == "named" && String(reflecting: queues[0]) == "debugged")
    }

    /// The system distinguishes operations by identity.
    @Test func `equal operations are separate dependencies and separate members of a queue`() {
        let (queue, operations) = (OperationQueue(), [Keyed("a"), Keyed("a"), Keyed("a")])
        queue.isSuspended = true
        operations[2].addDependency(operations[0])
        operations[2].addDependency(operations[1])
        #expect(operations[2].dependencies.map(ObjectIdentifier.init) == operations[..<2].map(ObjectIdentifier.init))
        operations[2].removeDependency(operations[1])
        #expect(operations[2].dependencies.map(ObjectIdentifier.init) == [ObjectIdentifier(operations[0])])
        queue.addOperations(operations, waitUntilFinished: false)
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(operations.allSatisfy { $0.isFinished })
    }
}
