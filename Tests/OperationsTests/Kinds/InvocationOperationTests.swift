import Operations
import Testing
import TestSupport

/// Rules I1, I3, I5: invocation operations in their type-safe form.
@Suite(.timeLimit(.minutes(5))) struct InvocationOperationTests {
    /// Rules I1, I3.
    @Test func `a method without an argument is called once and its value is the result`() throws {
        let downloader = InvocationTarget()
        let operation = InvocationOperation(target: downloader, method: InvocationTarget.fetchAll)
        OperationQueue().addOperations([operation], waitUntilFinished: true)
        #expect(try operation.result as? String == "fetched")
        #expect(downloader.calls.entries == ["fetch"])
    }

    /// Rules I1, I3.
    @Test func `main() that is called twice calls the method once and keeps its result`() throws {
        final class Twice: InvocationOperation, @unchecked Sendable {
            override func main() {
                super.main()
                super.main()
            }
        }
        final class Target: Sendable { func value() -> Int { 7 } }
        let operation = Twice(invocation: Invocation(target: Target(), method: Target.value))
        operation.start()
        #expect(try operation.result as? Int == 7)
    }

    @Test func `a method with a parameter gets its argument`() throws {
        let downloader = InvocationTarget()
        let operation = InvocationOperation(target: downloader, method: InvocationTarget.fetch(from:), argument: "a")
        operation.start()
        #expect(try operation.result as? String == "fetched a")
        #expect(downloader.calls.entries == ["fetch a"])
    }

    /// Rule I3: an optional argument may be nil.
    @Test func `an optional argument arrives as it is`() throws {
        for argument in [nil, 7] as [Int?] {
            let operation = InvocationOperation(
                target: InvocationTarget(), method: InvocationTarget.echo, argument: argument)
            operation.start()
            #expect(try operation.result as? Int == argument)
        }
    }

    /// Rule I1.
    @Test func `it is not asynchronous and start returns with the work done`() {
        let downloader = InvocationTarget()
        let operation = InvocationOperation(target: downloader, method: InvocationTarget.fetchAll)
        #expect(!operation.isAsynchronous)
        operation.start()
        #expect(operation.isFinished)
        #expect(downloader.calls.entries.count == 1)
    }

    /// Rule I5.
    @Test func `the result is nil until the operation is finished`() throws {
        let (queue, target) = (OperationQueue(), InvocationTarget())
        let operation = InvocationOperation(target: target, method: InvocationTarget.wait)
        #expect(try operation.result == nil)
        queue.addOperation(operation)
        target.started.pass()
        #expect(try operation.result == nil)
        target.gate.open()
        operation.waitUntilFinished()
        #expect(try operation.result as? Int == 1)
    }

    /// Reads its result after the method has returned, and before the end.
    private final class LooksEarly: InvocationOperation, @unchecked Sendable {
        let seen = Journal<Int?>()

        override func main() {
            super.main()
            seen.append((try? result) as? Int)
        }
    }

    /// Rule I5: the method has returned, but the operation still executes.
    @Test func `the result is nil while the operation executes`() throws {
        let counted = LooksEarly(invocation: Invocation(target: InvocationTarget(), method: InvocationTarget.one))
        counted.start()
        #expect(counted.seen.entries == [nil])
        #expect(try counted.result as? Int == 1)
    }

    /// Rule I5.
    @Test func `scalars and structures come back as values`() throws {
        let target = InvocationTarget()
        let number = InvocationOperation(target: target, method: InvocationTarget.double, argument: 2.5)
        let list = InvocationOperation(target: target, method: InvocationTarget.list)
        number.start()
        list.start()
        #expect(try number.result as? Double == 5)
        #expect(try list.result as? [Int] == [1, 2, 3])
    }

    /// Rule I5.
    @Test func `a Void method runs and has no result`() throws {
        let target = InvocationTarget()
        let operation = InvocationOperation(target: target, method: InvocationTarget.log)
        #expect(try operation.result == nil)
        operation.start()
        #expect(target.calls.entries == ["log"])
        #expect(throws: InvocationOperationError.invocationOperationVoidResult) { try operation.result }
    }

    /// Rule I5.
    @Test func `reading after cancellation fails, before and after the end`() {
        let target = InvocationTarget()
        let operation = InvocationOperation(target: target, method: InvocationTarget.fetchAll)
        operation.cancel()
        #expect(throws: InvocationOperationError.invocationOperationCancelled) { try operation.result }
        OperationQueue().addOperations([operation], waitUntilFinished: true)
        #expect(throws: InvocationOperationError.invocationOperationCancelled) { try operation.result }
        #expect(target.calls.entries.isEmpty)
    }

    /// Rules I5, C1.
    @Test func `cancelling after the end leaves the result`() throws {
        let operation = InvocationOperation(target: InvocationTarget(), method: InvocationTarget.fetchAll)
        operation.start()
        operation.cancel()
        #expect(try operation.result as? String == "fetched")
    }

    /// Rule I5: `result` throws the error, also for a Void method. `start()` never throws it.
    @Test func `reading the result throws the error of the method`() {
        let target = InvocationTarget()
        let value = InvocationOperation(target: target, method: InvocationTarget.fail(with:), argument: 1)
        let void = InvocationOperation(target: target, method: InvocationTarget.failSilently)
        value.start()
        OperationQueue().addOperations([void], waitUntilFinished: true)
        #expect(throws: InvocationTarget.Failure(number: 1)) { try value.result }
        #expect(throws: InvocationTarget.Failure(number: 2)) { try void.result }
        #expect(throws: InvocationTarget.Failure(number: 1)) { try value.result }
    }

    /// Rule I3.
    @Test(.tags(.release)) func `target and argument are retained until the end and no longer`() throws {
        let queue = OperationQueue()
        queue.isSuspended = true
        let (operation, target, passed) = makeOperation()
        queue.addOperation(operation)
        #expect(!target.isGone && !passed.isGone)
        queue.isSuspended = false
        operation.waitUntilFinished()
        #expect(target.isGone && passed.isGone)
        #expect(try operation.result as? String == "got it")
    }

    /// Rules I3, W5.
    @Test(.tags(.release)) func `a cancelled operation releases target and argument`() {
        let (operation, target, passed) = makeOperation()
        operation.cancel()
        OperationQueue().addOperations([operation], waitUntilFinished: true)
        #expect(target.isGone && passed.isGone)
    }

    private func makeOperation() -> (InvocationOperation, Weak, Weak) {
        let (target, argument) = (InvocationTarget(), InvocationTarget())
        let operation = InvocationOperation(target: target, method: InvocationTarget.take, argument: argument)
        return (operation, Weak(target), Weak(argument))
    }

    /// Rule I1: it is an operation like any other.
    @Test func `it takes part in dependencies`() throws {
        let (queue, target) = (OperationQueue(), InvocationTarget())
        let first = InvocationOperation(target: target, method: InvocationTarget.fetch(from:), argument: "first")
        let second = InvocationOperation(target: target, method: InvocationTarget.fetch(from:), argument: "second")
        first.addDependency(second)
        queue.addOperations([first, second], waitUntilFinished: true)
        #expect(target.calls.entries == ["fetch second", "fetch first"])
    }
}
