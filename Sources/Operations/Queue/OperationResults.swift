/// The results of operations, one for each element of a sequence, in the order in which the operations end. See
/// ``OperationQueue/results(of:atMost:name:limitKey:timeout:deadline:retry:priority:_:)``.
///
/// Each iteration adds operations of its own.
public struct OperationResults<Inputs: Sequence, Output: Sendable>: AsyncSequence where Inputs.Element: Sendable {
    /// An element and the result of its operation.
    public struct Element: Sendable {
        /// The position of the element in the sequence.
        public let index: Int
        public let input: Inputs.Element
        /// The output, or the error of the operation.
        public let result: Result<Output, any Error>
    }

    typealias Add = (Inputs.Element, _ whenDone: @escaping @Sendable (TaskOperation<Output>) -> Void) -> TaskOperation<
        Output
    >

    let inputs: Inputs
    let limit: Int
    /// Adds the operation of an element, and calls the closure when the operation has ended.
    let add: Add

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(running: RunningOperations(), inputs: inputs.enumerated().makeIterator(), limit: limit, add: add)
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let running: RunningOperations<Inputs.Element, Output>
        fileprivate var inputs: EnumeratedSequence<Inputs>.Iterator
        fileprivate let limit: Int
        fileprivate let add: Add

        /// Returns the next result; nil after the last one, and after a cancellation of the task.
        public mutating func next() async -> Element? {
            while running.count < limit, !Task.isCancelled, let (index, input) = inputs.next() {
                running.begin(index, input, by: add)
            }
            guard running.count > 0, let ended = await running.next() else {
                running.cancel()
                return nil
            }
            return Element(index: ended.index, input: ended.input, result: await ended.operation.result)
        }
    }
}

private struct EndedOperation<Input: Sendable, Output: Sendable>: Sendable {
    let index: Int
    let input: Input
    let operation: TaskOperation<Output>
}

/// The operations that were added and whose results were not read. A class: its release ends the iteration.
private final class RunningOperations<Input: Sendable, Output: Sendable> {
    private var operations: [Int: TaskOperation<Output>] = [:]
    private let end: AsyncStream<EndedOperation<Input, Output>>.Continuation
    private var ends: AsyncStream<EndedOperation<Input, Output>>.AsyncIterator

    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: EndedOperation<Input, Output>.self)
        (ends, end) = (stream.makeAsyncIterator(), continuation)
    }

    var count: Int { operations.count }

    func begin(_ index: Int, _ input: Input, by add: OperationResults<[Input], Output>.Add) {
        operations[index] = add(input) { [end] in
            end.yield(EndedOperation(index: index, input: input, operation: $0))
        }
    }

    /// Returns the next operation that has ended; nil after a cancellation of the task.
    func next() async -> EndedOperation<Input, Output>? {
        let caller = ThreadContext.ofCurrentTask
        let awaited = caller == nil ? [] : Array(operations.values)
        if let (operation, queue) = caller {
            for each in awaited { operation.beginsWait(for: .operation(each)) }
            queue?.watchWaits()
        }
        let ended = await ends.next()
        for each in awaited { caller?.operation.endsWait(for: .operation(each)) }
        if let ended { operations[ended.index] = nil }
        return ended
    }

    func cancel() { for operation in operations.values { operation.cancel() } }

    deinit { cancel() }
}

@available(*, unavailable)
extension OperationResults.AsyncIterator: Sendable {}
