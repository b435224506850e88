import Operations
import Synchronization
import Testing
import TestSupport

/// Reads and sets the deprecated names without a warning.
private protocol OldNames: AnyObject {
    var isConcurrent: Bool { get }
    var threadPriority: Double { get set }
}

extension Operation: OldNames {}

/// Rules L7 (the two names), L12 and L13.
@Suite struct LifeLabelTests {
    /// Rule L12.
    @Test func `the name labels the operation and is nil at first`() {
        let operation = Operation()
        #expect(operation.name == nil)
        operation.name = "thumbnail"
        #expect(operation.name == "thumbnail")
        operation.name = nil
        #expect(operation.name == nil)
    }

    /// Rule L12.
    @Test func `the description shows type, identity, name and state`() {
        let operation = GatedOperation()
        operation.name = "thumbnail"
        let address = String(UInt(bitPattern: Unmanaged.passUnretained(operation).toOpaque()), radix: 16)
        for part in ["GatedOperation", address, "thumbnail", "ready"] {
            #expect(operation.description.contains(part))
        }
        let dependency = Operation()
        operation.addDependency(dependency)
        #expect(operation.description.contains("waiting"))
        operation.removeDependency(dependency)
        OperationQueue().addOperation(operation)
        operation.began.pass()
        #expect(operation.description.contains("executing"))
        operation.cancel()
        #expect(operation.description.contains("cancelled"))
        operation.mayEnd.open()
        operation.waitUntilFinished()
        #expect(operation.description.contains("finished"))
        #expect("\(operation)" == operation.description)
    }

    private func priority(of operation: Operation) -> Double { (operation as any OldNames).threadPriority }

    private func setPriority(of operation: Operation, to value: Double) {
        (operation as any OldNames).threadPriority = value
    }

    /// Rule L13.
    @Test func `the thread priority is a half by default and clamped`() {
        let operation = Operation()
        #expect(priority(of: operation) == 0.5)
        for (set, read) in [(0.25, 0.25), (1.5, 1), (-2, 0), (0, 0), (1, 1), (.infinity, 1)] {
            setPriority(of: operation, to: set)
            #expect(priority(of: operation) == read)
        }
    }

    /// Rule L13.
    @Test func `the thread priority is ignored once the operation has started`() {
        let operation = GatedOperation()
        setPriority(of: operation, to: 0.75)
        OperationQueue().addOperation(operation)
        operation.began.pass()
        setPriority(of: operation, to: 0.25)
        #expect(priority(of: operation) == 0.75)
        operation.mayEnd.open()
        operation.waitUntilFinished()
        setPriority(of: operation, to: 0.25)
        #expect(priority(of: operation) == 0.75)
    }

    private final class NewName: Operation, @unchecked Sendable {
        override var isAsynchronous: Bool { true }
    }

    private final class OldName: Operation, @unchecked Sendable {
        @available(*, deprecated)
        override var isConcurrent: Bool { true }
    }

    private final class NamesOfSuper: Operation, @unchecked Sendable {
        override var isAsynchronous: Bool { super.isAsynchronous }
        @available(*, deprecated)
        override var isConcurrent: Bool { super.isConcurrent }
    }

    /// The old name reads the same property of another operation, which overrides only the new name.
    private final class Borrowing: Operation, @unchecked Sendable {
        let other: Operation
        init(_ other: Operation) { self.other = other }
        @available(*, deprecated)
        override var isConcurrent: Bool { other.isConcurrent }
    }

    /// Rules L7 and L13.
    @Test func `isAsynchronous and isConcurrent follow each other when one of them is overridden`() {
        let cases: [(Operation, Bool)] = [
            (Operation(), false), (NewName(), true), (OldName(), true), (NamesOfSuper(), false),
            (Borrowing(NewName()), true), (Borrowing(OldName()), true), (Borrowing(Operation()), false),
        ]
        for (operation, expected) in cases {
            #expect(operation.isAsynchronous == expected)
            #expect((operation as any OldNames).isConcurrent == expected)
            #expect(operation.isAsynchronous == expected)
        }
    }
}
