import SchedulerCore

// One async closure for each element of a sequence (rule N1).
extension OperationQueue {
    /// Transforms each element of a sequence with an async closure, and returns the outputs in order. Each element is an operation.
    ///
    /// ```swift
    /// let pages = try await queue.map(addresses, atMost: 8, limitKey: { $0.host }, timeout: .seconds(5)) { try await load($0) }
    /// ```
    ///
    /// When an operation fails, the others are cancelled; `mapResults` continues. A cancellation of the waiting task cancels all
    /// operations.
    ///
    /// - Parameters:
    ///   - inputs: The elements.
    ///   - limit: The largest number of these operations that are in the queue at a time; nil for `maxThreadCount`. The
    ///     concurrency limit of the queue applies too.
    ///   - name: Returns the name of the operation of an element, for reports and timelines; nil for no name.
    ///   - key: Returns the key whose limit applies to an element, such as its host; nil for no key.
    ///   - timeout: The time from the start of an operation to its end, after which it fails with ``OperationTimeout``.
    ///   - deadline: The instant at which the operations that have not finished fail with ``OperationTimeout``.
    ///   - retry: The rule for repeating failed work. An operation releases its slot during a delay.
    ///   - priority: The rank of the operations among the ready operations of the queue.
    ///   - transform: Returns the output for an input.
    /// - Throws: The first error of a closure. `OperationError` when `limit` is below 1, when the caller holds the
    ///   queue's only slot, or when the queue is full or was shut down.
    public final func map<Input: Sendable, Output: Sendable>(
        _ inputs: some Sequence<Input>, atMost limit: Int? = nil, name: (Input) -> String? = { _ in nil },
        limitKey key: (Input) -> String? = { _ in nil }, timeout: Duration? = nil,
        deadline: ContinuousClock.Instant? = nil, retry: RetryPolicy? = nil,
        priority: Operation.QueuePriority = .normal,
        _ transform: @escaping @Sendable (Input) async throws -> Output
    ) async throws -> [Output] {
        let window = try window(limit)
        return try await withThrowingTaskGroup(of: (Int, Output).self) { group in
            var outputs: [Output?] = []
            for (index, input) in inputs.enumerated() {
                outputs.append(nil)
                if index >= window, let (done, output) = try await group.next() { outputs[done] = output }
                let (name, key) = (name(input), key(input))
                group.addTask {
                    let output = try await self.run(
                        name: name, priority: priority, limitKey: key, timeout: timeout, deadline: deadline,
                        retry: retry
                    ) { try await transform(input) }
                    return (index, output)
                }
            }
            for try await (done, output) in group { outputs[done] = output }
            return outputs.map(\.unsafelyUnwrapped)
        }
    }

    /// Transforms each element of a sequence with an async closure, and returns an output or an error for each, in order. The failure
    /// of an operation has no effect on the others. Otherwise as `map`.
    ///
    /// - Throws: `CancellationError` if the waiting task is cancelled, which cancels all operations. `OperationError` when `limit` is
    ///   below 1.
    public final func mapResults<Input: Sendable, Output: Sendable>(
        _ inputs: some Sequence<Input>, atMost limit: Int? = nil, name: (Input) -> String? = { _ in nil },
        limitKey key: (Input) -> String? = { _ in nil }, timeout: Duration? = nil,
        deadline: ContinuousClock.Instant? = nil, retry: RetryPolicy? = nil,
        priority: Operation.QueuePriority = .normal,
        _ transform: @escaping @Sendable (Input) async throws -> Output
    ) async throws -> [Result<Output, any Error>] {
        let window = try window(limit)
        let results = await withTaskGroup(of: (Int, Result<Output, any Error>).self) { group in
            var results: [Result<Output, any Error>?] = []
            for (index, input) in inputs.enumerated() {
                if Task.isCancelled { break }
                results.append(nil)
                if index >= window, let (done, result) = await group.next() { results[done] = result }
                let (name, key) = (name(input), key(input))
                group.addTask {
                    do {
                        let output = try await self.run(
                            name: name, priority: priority, limitKey: key, timeout: timeout, deadline: deadline,
                            retry: retry
                        ) { try await transform(input) }
                        return (index, .success(output))
                    } catch {
                        return (index, .failure(error))
                    }
                }
            }
            for await (done, result) in group { results[done] = result }
            return results.map(\.unsafelyUnwrapped)
        }
        try Task.checkCancellation()
        return results
    }

    /// Transforms each element of a sequence with an async closure. The sequence that is returned has an output or an error for each
    /// element, in the order in which the operations end.
    ///
    /// ```swift
    /// for await page in queue.results(of: addresses, atMost: 8, { try await load($0) }) { print(page.input, page.result) }
    /// ```
    ///
    /// The iteration adds the operations. At most `limit` of them are in the queue or have ended and were not read, so a slow reader
    /// slows the work down, and `inputs` may be long. The end of the iteration, also by `break` or a cancellation of its task,
    /// cancels the operations that are left.
    ///
    /// - Parameters:
    ///   - inputs: The elements. They are read when their operations are added.
    ///   - limit: The largest number of operations at a time. The call stops the process if the limit is below 1.
    ///   - name: Returns the name of the operation of an element, for reports and timelines; nil for no name.
    ///   - key: Returns the key whose limit applies to an element, such as its host; nil for no key.
    ///   - timeout: The time from the start of an operation to its end, after which it fails with ``OperationTimeout``.
    ///   - deadline: The instant at which the operations that have not finished fail with ``OperationTimeout``.
    ///   - retry: The rule for repeating failed work. An operation releases its slot during a delay.
    ///   - priority: The rank of the operations among the ready operations of the queue.
    ///   - transform: Returns the output for an input.
    public final func results<Inputs: Sequence, Output: Sendable>(
        of inputs: Inputs, atMost limit: Int, name: @escaping (Inputs.Element) -> String? = { _ in nil },
        limitKey key: @escaping (Inputs.Element) -> String? = { _ in nil }, timeout: Duration? = nil,
        deadline: ContinuousClock.Instant? = nil, retry: RetryPolicy? = nil,
        priority: Operation.QueuePriority = .normal,
        _ transform: @escaping @Sendable (Inputs.Element) async throws -> Output
    ) -> OperationResults<Inputs, Output> where Inputs.Element: Sendable {
        if limit < 1 { InvalidPolicy.limit(limit).stop() }
        return OperationResults(inputs: inputs, limit: limit) { [self] input, whenDone in
            let operation = Self.task(name(input), priority, [], timeout, deadline, retry) {
                try await transform(input)
            }
            operation.completionBlock = { [unowned operation] in whenDone(operation) }
            // Misuse M8 is a result, as every other failure.
            do { try checkSuspension(for: operation) } catch {
                operation.endRefused(by: self, error)
                return operation
            }
            addOperation(operation, limitKey: key(input))
            return operation
        }
    }

    private func window(_ limit: Int?) throws(OperationError) -> Int {
        if let limit, limit < 1 { throw .limitNotPositive(queue: label, limit: limit) }
        return limit ?? Self.maxThreadCount
    }
}
