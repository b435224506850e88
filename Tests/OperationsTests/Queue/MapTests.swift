@testable import Operations
import TestSupport
import Testing

/// Rule N1: one async closure for each element of a sequence.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct MapTests {
    private struct Failed: Error, Equatable { let number: Int }

    @Test func `results are in order, and a failure has no effect on the others`() async throws {
        let queue = OperationQueue()
        let results = try await queue.mapResults(0..<50, atMost: 4) { number in
            if number % 3 == 0 { throw Failed(number: number) }
            await Task.yield()
            return number * 2
        }
        #expect(results.count == 50)
        for (number, result) in results.enumerated() {
            switch result {
            case .success(let output): #expect(output == number * 2 && number % 3 != 0)
            case .failure(let error): #expect(error as? Failed == Failed(number: number))
            }
        }
        #expect(try await queue.mapResults([Int](), atMost: 1) { $0 }.isEmpty)
        await #expect(throws: OperationError.self) { try await queue.mapResults([1], atMost: 0) { $0 } }
    }

    @Test func `as many operations as the limit permits run at a time`() async throws {
        let queue = OperationQueue()
        func meeting() -> @Sendable (Int) async -> Void {
            let all = AsyncGate(3)
            return { _ in
                all.open()
                await all.pass()
            }
        }
        _ = try await queue.mapResults(0..<3, atMost: 3, meeting())
        _ = try await queue.map(0..<3, atMost: 3, meeting())
    }

    @Test func `an operation has the name of its element`() async throws {
        let queue = OperationQueue()
        let names = Guarded([String?]())
        let note = { @Sendable (_: Int) in
            let name = ThreadContext.ofCurrentTask?.operation.name
            names.withLock { $0.append(name) }
        }
        _ = try await queue.map([1], name: { "mapped \($0)" }, note)
        _ = try await queue.mapResults([2], name: { "result \($0)" }, note)
        for await _ in queue.results(of: [3], atMost: 1, name: { "next \($0)" }, note) {}
        _ = try await queue.map([4], note)
        #expect(names.withLock { $0 } == ["mapped 1", "result 2", "next 3", nil])
    }

    @Test func `the options apply to each element`() async throws {
        let queue = OperationQueue(name: "work", maxConcurrentOperationCount: 8)
        queue.setLimitPerKey(1)
        let running = Guarded([String: Int]())
        let exceeded = Guarded(false)
        let results = try await queue.mapResults(
            0..<40, limitKey: { $0 % 2 == 0 ? "even" : nil }, timeout: .milliseconds(50),
            retry: RetryPolicy(retries: 1, backoff: .none), priority: .high
        ) { number in
            let key = number % 2 == 0 ? "even" : "odd"
            let count = running.withLock {
                $0[key, default: 0] += 1; return $0[key]!
            }
            if key == "even", count > 1 { exceeded.withLock { $0 = true } }
            defer { running.withLock { $0[key]! -= 1 } }
            if number == 39 { try await Task.sleep(for: .seconds(1000)) }
            await Task.yield()
        }
        #expect(!exceeded.withLock { $0 })
        #expect(results.dropLast().allSatisfy { if case .success = $0 { true } else { false } })
        guard case .failure(let error) = results[39] else { return #expect(Bool(false)) }
        #expect(error is OperationTimeout)
    }

    @Test func `a cancelled caller cancels the operations and gets no results`() async {
        let queue = OperationQueue()
        let begun = AsyncGate()
        let caller = Task {
            try await queue.mapResults(0..<3) { _ in
                begun.open()
                try await Task.sleep(for: .seconds(1000))
            }
        }
        await begun.pass()
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        await queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `results come in the order in which the operations end`() async {
        let queue = OperationQueue()
        let gates = (0..<3).map { _ in AsyncGate() }
        var seen: [Int] = []
        gates[2].open()
        for await element in queue.results(
            of: 0..<3, atMost: 3,
            { number in
                await gates[number].pass()
                if number == 1 { throw Failed(number: 1) }
                return "\(number)"
            })
        {
            seen.append(element.index)
            #expect(element.input == element.index)
            switch element.result {
            case .success(let text): #expect(text == "\(element.index)")
            case .failure(let error): #expect(error as? Failed == Failed(number: 1) && element.index == 1)
            }
            gates[seen.count == 1 ? 1 : 0].open()
        }
        #expect(seen == [2, 1, 0])
    }

    @Test func `at most the limit of elements is in work or unread, of any number`() async {
        let queue = OperationQueue()
        let (taken, open) = (Guarded(0), Guarded(0))
        let count = Stress.rounds(5000, least: 1000)
        let inputs = AnySequence(
            (0..<count).lazy.map { number -> Int in
                taken.withLock { $0 += 1 }
                return number
            })
        var read = 0
        for await element in queue.results(of: inputs, atMost: 5, { $0 + 1 }) {
            read += 1
            if taken.withLock({ $0 }) > read + 5 { Issue.record("\(read)") }
            if case .success(let output) = element.result { open.withLock { $0 += output - element.input } }
        }
        #expect(read == count && open.withLock { $0 } == count)
    }

    @Test func `leaving the iteration cancels the operations that are left`() async {
        let queue = OperationQueue()
        let (ended, cancelled) = (Guarded(0), Guarded(0))
        for await _ in queue.results(
            of: 0..<10, atMost: 4,
            { number in
                if number == 0 { return }
                do { try await Task.sleep(for: .seconds(1000)) } catch { cancelled.withLock { $0 += 1 } }
            })
        {
            ended.withLock { $0 += 1 }
            break
        }
        await queue.waitUntilAllOperationsAreFinished()
        #expect(ended.withLock { $0 } == 1 && cancelled.withLock { $0 } <= 3)
        let reader = Task {
            var count = 0
            for await _ in queue.results(of: 0..<10, atMost: 4, { _ in try await Task.sleep(for: .seconds(1000)) }) {
                count += 1
            }
            return count
        }
        await untilTrue { queue.explain().executing.count == 4 }
        reader.cancel()
        #expect(await reader.value == 0)
        await queue.waitUntilAllOperationsAreFinished()
    }

    @Test
    func `an operation that reads results of its own serial queue gets errors, and one that reads others awaits them`()
        async throws
    {
        let queue = OperationQueue(name: "serial", maxConcurrentOperationCount: 1)
        let errors = try await queue.run {
            var errors: [any Error] = []
            for await element in queue.results(of: 0..<3, atMost: 2, { $0 }) {
                if case .failure(let error) = element.result { errors.append(error) }
            }
            return errors
        }
        #expect(errors.count == 3 && errors.allSatisfy { $0 is OperationError })
        let (other, gate) = (OperationQueue(name: "other"), AsyncGate())
        let reader = queue.addTask(name: "reader") {
            for await _ in other.results(of: 0..<1, atMost: 1, { _ in await gate.pass() }) {}
        }
        await untilTrue { queue.explain(reader).description.contains("waits in its work for TaskOperation") }
        gate.open()
        await reader.waitUntilFinished()
    }

    @Test func `a queue that is full gives the error of each element`() async throws {
        let queue = OperationQueue()
        Log.redirect { _ in }
        defer { Log.redirect(to: nil) }
        queue.setCapacity(1)
        let gate = AsyncGate()
        queue.addTask { await gate.pass() }
        var errors = 0
        for await element in queue.results(of: 0..<5, atMost: 2, { $0 }) {
            if case .failure(let error) = element.result, error is OperationError { errors += 1 }
        }
        #expect(errors == 5)
        gate.open()
        await queue.waitUntilAllOperationsAreFinished()
    }
}
