import Operations
import Testing
import TestSupport

/// Rules I2, I4, I6: selectors, invocations and the names of the exceptions.
@Suite(.timeLimit(.minutes(5))) struct InvocationSelectorTests {
    /// Rule I2.
    @Test func `a method is called by its selector`() throws {
        let target = InvocationTarget()
        let operation = try #require(InvocationOperation(target: target, selector: "fetch", object: nil))
        OperationQueue().addOperations([operation], waitUntilFinished: true)
        #expect(try operation.result as? String == "fetched")
    }

    /// Rule I2.
    @Test func `a selector with a colon takes the object`() throws {
        let operation = try #require(
            InvocationOperation(target: InvocationTarget(), selector: "fetch:", object: "there"))
        operation.start()
        #expect(try operation.result as? String == "fetched there")
    }

    /// Rule I2.
    @Test func `an operation for a selector that the target does not declare is nil`() {
        #expect(InvocationOperation(target: InvocationTarget(), selector: "unknown", object: nil) == nil)
        #expect(InvocationOperation(target: InvocationTarget(), selector: "fetch:also:", object: nil) == nil)
        #expect(InvocationOperation(target: Operation(), selector: "fetch", object: nil) == nil)
        #expect(InvocationOperation(target: "a value", selector: "fetch", object: nil) == nil)
    }

    /// Rule I2: the declarations of a subclass count, and overrides are called.
    @Test func `a subclass responds to its superclass's selectors and its own`() throws {
        let target: InvocationTarget = SpecialInvocationTarget()
        let special = try #require(InvocationOperation(target: target, selector: "special", object: nil))
        let inherited = try #require(InvocationOperation(target: target, selector: "fetch", object: nil))
        special.start()
        inherited.start()
        #expect(try special.result as? String == "special")
        #expect(try inherited.result as? String == "specially fetched")
        #expect(InvocationOperation(target: InvocationTarget(), selector: "special", object: nil) == nil)
    }

    /// Rules I2, I5.
    @Test func `scalars, nil, Void and errors work by selector too`() throws {
        let target = InvocationTarget()
        func run(_ selector: Selector, _ object: Any? = nil) throws -> InvocationOperation {
            let operation = try #require(InvocationOperation(target: target, selector: selector, object: object))
            operation.start()
            return operation
        }
        #expect(try run("double:", 1.5).result as? Double == 3)
        #expect(try run("echo:", 3).result as? Int == 3)
        let none = try #require(try run("echo:").result)
        #expect(none as? Int? == .some(nil))
        let void = try run("log")
        #expect(throws: InvocationOperationError.invocationOperationVoidResult) { try void.result }
        let failing = try run("fail:", 9)
        #expect(throws: InvocationTarget.Failure(number: 9)) { try failing.result }
    }

    /// Rule I2: as in Objective-C, an object for a method without a parameter is ignored.
    @Test func `an object for a method without an argument does no harm`() throws {
        let operation = try #require(InvocationOperation(target: InvocationTarget(), selector: "fetch", object: 1))
        operation.start()
        #expect(try operation.result as? String == "fetched")
    }

    /// Rule I2.
    @Test func `selectors are values made from literals or strings`() {
        let literal: Selector = "fetch:"
        #expect(literal == Selector("fetch:"))
        #expect(literal.description == "fetch:")
        #expect(Set([literal, "fetch:", "fetch"]).count == 2)
    }

    /// Rule I4.
    @Test func `an invocation holds target, selector and argument and can be invoked`() throws {
        let target = InvocationTarget()
        let invocation = try #require(Invocation(target: target, selector: "fetch:", object: "x"))
        #expect(invocation.target === target)
        #expect(invocation.selector == "fetch:")
        #expect(invocation.argument as? String == "x")
        #expect(try invocation.invoke() as? String == "fetched x")
        #expect(try invocation.invoke() as? String == "fetched x")
        #expect(Invocation(target: target, selector: "unknown") == nil)
    }

    /// Rule I4.
    @Test func `an invocation of a method has no selector and throws the error of the method`() throws {
        let target = InvocationTarget()
        let invocation = Invocation(target: target, method: InvocationTarget.fail(with:), argument: 4)
        #expect(invocation.selector == nil)
        #expect(invocation.argument as? Int == 4)
        #expect(throws: InvocationTarget.Failure(number: 4)) { try invocation.invoke() }
    }

    /// Rule I4.
    @Test func `an operation runs an invocation and returns it as a property`() throws {
        let target = InvocationTarget()
        let invocation = try #require(Invocation(target: target, selector: "fetch:", object: "y"))
        let operation = InvocationOperation(invocation: invocation)
        #expect(operation.invocation.target === target)
        #expect(operation.invocation.selector == "fetch:")
        operation.start()
        #expect(try operation.result as? String == "fetched y")
        #expect(operation.invocation.selector == "fetch:")
        #expect(operation.invocation.target == nil)
        #expect(try operation.invocation.invoke() == nil)
        #expect(target.calls.entries == ["fetch y"])
    }

    /// Rule I2: the message describes the error.
    @Test func `an argument of the wrong type stops the process with its name`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            InvocationOperation(target: InvocationTarget(), selector: "fetch:", object: 12)?.start()
        }
        let message = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
        #expect(message.contains("the argument") && message.contains("String"))
    }

    /// Rule I6.
    @Test func `the names of the exceptions exist`() {
        #expect(NSInvocationOperationVoidResultException == "NSInvocationOperationVoidResultException")
        #expect(NSInvocationOperationCancelledException == "NSInvocationOperationCancelledException")
    }
}
