import Dispatch
@testable import Operations
import TestSupport
import Testing
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Rule A16 for code that is not the work of an operation, and for threads that other code provides.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct OtherWaitsTests {
    private func block(_ name: String, _ body: @escaping @Sendable () -> Void = {}) -> BlockOperation {
        BlockOperation(name: name, block: body)
    }

    @Test(arguments: 1...2) func `operations that await capacity of their own queue are a stall`(count: Int) async {
        let observer = StallObserver(delay: .milliseconds(20))
        let queue = observer.queue
        queue.maxConcurrentOperationCount = count + 1
        queue.setCapacity(count)
        let begun = AsyncGate(count)
        let report = observer.report {
            for number in 0..<count {
                queue.addTask(name: "parent \(number)") {
                    begun.open()
                    await begun.pass()
                    try await queue.addTaskWaitingForCapacity(name: "child \(number)") {}.value
                }
            }
        }
        let reasons = report.reasons["TaskOperation 'parent 0'"] ?? []
        #expect(reasons.prefix(2) == [.executing, .awaits("TaskOperation 'child 0'")])
        #expect(report.causes.contains { $0.reasons == [.capacity(queue: "observed")] })
        queue.setCapacity(nil)
        await queue.waitUntilAllOperationsAreFinished()
    }

    @Test(arguments: 0..<4) func `a condition that waits for an operation behind its own is a stall`(form: Int) async {
        let observer = StallObserver(delay: .milliseconds(20))
        let queue = observer.queue
        let (first, behind) = (block("first"), block("behind"))
        behind.addDependency(first)
        let other = OperationQueue(name: "other", maxConcurrentOperationCount: 1)
        first.addCondition(
            .init("condition") {
                switch form {
                case 0: await behind.waitUntilFinished()
                case 1: blocking { behind.waitUntilFinished() }
                case 2: await other.waitUntilAllOperationsAreFinished()
                default: try? await other.run(name: "probe", after: [behind]) {}
                }
                return true
            })
        let last = block("last")
        last.addDependency(first)
        other.addOperation(last)
        let report = observer.report { queue.addOperations([first, behind], waitUntilFinished: false) }
        let reasons = report.reasons["BlockOperation 'first'"] ?? []
        #expect(reasons.first == .conditions(["condition"]))
        let subject: WaitingReason =
            switch form {
            case 0, 1: .awaits("BlockOperation 'behind'")
            case 2: .awaitsQueue("other")
            default: .awaits("TaskOperation 'probe'")
            }
        #expect(reasons.contains(subject))
        #expect(reasons.contains { if case .cycle = $0 { true } else { false } })
        for operation in [behind, last] { operation.removeDependency(first) }
        await queue.waitUntilAllOperationsAreFinished()
        #expect(observer.reports.count == 1)
    }

    @Test func `a condition that waits for an operation that executes is no stall`() async {
        let observer = StallObserver(delay: .milliseconds(1))
        let mayEnd = AsyncGate()
        let awaited = OperationQueue().addTask(name: "awaited") { await mayEnd.pass() }
        let operation = block("operation")
        operation.addCondition(
            .init("condition") {
                await awaited.waitUntilFinished()
                return true
            })
        observer.queue.addOperation(operation)
        let expected: [WaitingReason] = [.conditions(["condition"]), .awaits("TaskOperation 'awaited'")]
        while observer.queue.explain(operation).reasons != expected { await Task.yield() }
        StallObserver.letTimersPass()
        #expect(observer.reports.isEmpty)
        mayEnd.open()
        await observer.queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `a wait of a task that a condition has created is not one of the condition`() async {
        let queue = OperationQueue()
        let (waits, mayEnd) = (AsyncGate(), AsyncGate())
        let awaited = OperationQueue().addTask(name: "awaited") { await mayEnd.pass() }
        let operation = block("operation")
        operation.addCondition(
            .init("condition") {
                let task = Task {
                    waits.open()
                    await awaited.waitUntilFinished()
                }
                await task.value
                return true
            })
        queue.addOperation(operation)
        await waits.pass()
        #expect(queue.explain(operation).reasons == [.conditions(["condition"])])
        mayEnd.open()
        await queue.waitUntilAllOperationsAreFinished()
    }

    /// In processes of their own, because the operations never end.
    @Test(arguments: [false, true])
    func `an operation that waits for another one on its serial dispatch queue is a stall`(inOtherQueue: Bool) async {
        await #expect(processExitsWith: .success) { [inOtherQueue] in
            let observer = StallObserver(delay: .milliseconds(20))
            let (serial, other) = (DispatchQueue(label: "serial"), OperationQueue(name: "other"))
            for queue in [observer.queue, other] { queue.underlyingQueue = serial }
            let inner = BlockOperation(name: "inner") {}
            let report = observer.report {
                observer.queue.addOperation(
                    BlockOperation(name: "outer") {
                        (inOtherQueue ? other : observer.queue).addOperation(inner)
                        inner.waitUntilFinished()
                    })
            }
            let reasons = report.reasons["BlockOperation 'outer'"] ?? []
            #expect(reasons.prefix(2) == [.executing, .awaits("BlockOperation 'inner'")])
            let own = other.explain(inner).reasons.first
            guard case .dispatchQueue("serial", let holders)? = own else { exitNow(1) }
            _ = holders.map(\.operation) == ["BlockOperation 'outer'"] ? exitNow(0) : exitNow(2)
        }
    }

    @Test func `operations on a dispatch queue that can continue are no stall`() async {
        let observer = StallObserver(delay: .milliseconds(1))
        let (begun, mayEnd) = (AsyncGate(), Gate())
        observer.queue.underlyingQueue = DispatchQueue(label: "serial")
        observer.queue.addOperation {
            begun.open()
            mayEnd.pass()
        }
        let second = block("second")
        observer.queue.addOperation(second)
        await begun.pass()
        guard case .dispatchQueue("serial", _)? = observer.queue.explain(second).reasons.first else {
            Issue.record("\(observer.queue.explain(second))")
            return mayEnd.open()
        }
        StallObserver.letTimersPass()
        #expect(observer.reports.isEmpty)
        mayEnd.open()
        await observer.queue.waitUntilAllOperationsAreFinished()
    }

    @Test(arguments: 0..<3) func `waiting on the main thread for a queue over its dispatch queue stops the process`(
        form: Int
    ) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [form] in
            await MainActor.run {
                let (queue, operation) = (OperationQueue(), BlockOperation {})
                queue.underlyingQueue = .main
                if form < 2 { queue.addOperation(operation) }
                switch form {
                case 0: blocking { operation.waitUntilFinished() }
                case 1: blocking { queue.waitUntilAllOperationsAreFinished() }
                default: blocking { queue.addOperations([operation], waitUntilFinished: true) }
                }
            }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("which only the main thread runs"))
    }

    @Test func `a main thread that waits for an operation behind a queue over its dispatch queue is a stall`() async {
        await #expect(processExitsWith: .success) {
            await MainActor.run {
                let (queue, main) = (OperationQueue(name: "user's"), OperationQueue())
                main.underlyingQueue = .main
                queue.stallDelay = .milliseconds(20)
                queue.stallHandler = { report in
                    let text = report.description
                    _ = text.contains("waits for the main thread, which waits for") ? exitNow(0) : exitNow(1)
                }
                let (onMain, operation) = (BlockOperation {}, BlockOperation {})
                main.addOperation(onMain)
                operation.addDependency(onMain)
                queue.addOperation(operation)
                blocking { operation.waitUntilFinished() }
            }
        }
    }
}

/// Calls a blocking member in an async function.
private func blocking(_ body: () throws -> Void) rethrows { try body() }

private func exitNow(_ status: Int32) -> Never { exit(status) }
