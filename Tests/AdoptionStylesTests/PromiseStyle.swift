import Testing

#if PLAIN_FOUNDATION
import Foundation
#else
import OperationsFoundation
#endif

/// The style of promises: an operation produces a value, and dependent operations use the value.
final class Promise<Value: Sendable>: @unchecked Sendable {
    // Sendable: a lock guards the outcome, and the rest is constant.
    private let outcome = Kept<Result<Value, any Error>?>(nil)
    private let operation: Operation
    private let queue: OperationQueue

    init(in queue: OperationQueue, after others: [Operation] = [], _ work: @escaping @Sendable () throws -> Value) {
        self.queue = queue
        let outcome = outcome
        operation = BlockOperation { outcome.set(Result(catching: work)) }
        for other in others { operation.addDependency(other) }
        queue.addOperation(operation)
    }

    func then<New>(_ next: @escaping @Sendable (Value) throws -> New) -> Promise<New> {
        Promise<New>(in: queue, after: [operation]) { [self] in try next(get()) }
    }

    /// Waits for the value and returns it.
    func get() throws -> Value {
        operation.waitUntilFinished()
        guard let outcome = outcome() else { throw CancellationError() }
        return try outcome.get()
    }

    func cancel() { operation.cancel() }

    static func all(_ promises: [Promise], in queue: OperationQueue) -> Promise<[Value]> {
        Promise<[Value]>(in: queue, after: promises.map(\.operation)) { try promises.map { try $0.get() } }
    }
}

@Suite(.timeLimit(.minutes(1))) struct PromiseStyle {
    private struct Refusal: Error {}

    @Test func `a long chain passes the value on, in a serial queue too`() throws {
        for width in [1, OperationQueue.defaultMaxConcurrentOperationCount] {
            let queue = OperationQueue()
            queue.maxConcurrentOperationCount = width
            var promise = Promise(in: queue) { 0 }
            for _ in 0..<200 { promise = promise.then { $0 + 1 } }
            #expect(try promise.get() == 200)
        }
    }

    @Test func `many promises are joined into one`() throws {
        let queue = OperationQueue()
        let promises = (0..<50).map { number in Promise(in: queue) { number } }
        #expect(try Promise.all(promises, in: queue).get() == Array(0..<50))
    }

    @Test func `a failure and a cancellation reach the end of the chain`() {
        let queue = OperationQueue()
        let failed = Promise<Int>(in: queue) { throw Refusal() }.then { $0 + 1 }.then { $0 + 1 }
        #expect(throws: Refusal.self) { try failed.get() }
        queue.isSuspended = true
        let first = Promise(in: queue) { 1 }
        let second = first.then { $0 + 1 }
        first.cancel()
        queue.isSuspended = false
        #expect(throws: CancellationError.self) { try second.get() }
    }
}
