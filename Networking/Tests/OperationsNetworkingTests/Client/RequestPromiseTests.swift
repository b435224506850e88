import HTTPCore
import Operations
@testable import OperationsNetworking
import TestSupport
import Testing

/// The state of a request behind its handle (rule N5).
@Suite(.timeLimit(.minutes(5))) struct RequestPromiseTests {
    private enum Failure: Error { case cancelled, other }

    /// Work that records the demands of its request.
    private final class Work: RequestParticipant {
        let demand = Guarded<TransferDemand?>(nil)
        let first: TransferProgress?

        init(first: TransferProgress? = nil) { self.first = first }

        func apply(_ demand: TransferDemand) { self.demand.withLock { $0 = demand } }
        func cancel() {}
        func endIfFinished() {}
        func beginProgress() -> TransferProgress? { first }
        var transfer: HTTPOperation? { nil }
    }

    private func promise<Value: Sendable>(
        of type: Value.Type = Int.self, _ work: Work? = nil
    ) -> RequestPromise<Value, Failure> {
        RequestPromise(url: "", cancellation: .cancelled, demand: TransferDemand(.normal), participant: work)
    }

    private func bytes(_ count: Int64, of total: Int64? = 1000) -> TransferProgress {
        TransferProgress(completedBytes: count, totalBytes: total)
    }

    @Test func `the first result counts`() async throws {
        let promise = promise()
        #expect(promise.result == nil && !promise.hasEnded)
        let isFirst = promise.end(.success(1))
        let isSecond = promise.end(.failure(.other))
        #expect(isFirst && !isSecond && promise.hasEnded)
        let value = try await RequestHandle(promise).value
        #expect(value == 1)
    }

    @Test(arguments: 0..<UInt64(20)) func `each awaiting task gets the result or its own cancellation`(seed: UInt64)
        async
    {
        var random = SeededRandom(seed: seed)
        let handle = RequestHandle(promise())
        let tasks = (0..<100).map { _ in
            Task { () async -> Result<Int, Failure> in
                do throws(Failure) { return .success(try await handle.value) } catch { return .failure(error) }
            }
        }
        let cancelled = Set(tasks.indices.filter { _ in random.below(3) == 0 })
        let middle = random.below(100)
        for index in tasks.indices {
            if index == middle { handle.promise.end(.success(7)) }
            if cancelled.contains(index) { tasks[index].cancel() }
        }
        for index in tasks.indices {
            switch await tasks[index].value {
            case .success(let value): #expect(value == 7)
            case .failure(let failure): #expect(failure == .cancelled && cancelled.contains(index))
            }
        }
        #expect(handle.promise.waiterCount == 0)
    }

    @Test func `a task that is cancelled before it waits does not wait`() async {
        let handle = RequestHandle(promise())
        let gate = AsyncGate()
        let task = Task { () async -> Bool in
            await gate.pass()
            do throws(Failure) { _ = try await handle.value } catch { return error == .cancelled }
            return false
        }
        task.cancel()
        gate.open()
        #expect(await task.value)
    }

    @Test func `the work gets the latest demand, for concurrent changes`() async {
        for round in 0..<20 {
            let work = Work()
            let handle = RequestHandle(promise(work))
            await withTaskGroup { group in
                for worker in 0..<4 {
                    group.addTask {
                        var random = SeededRandom(seed: UInt64(round * 4 + worker))
                        for _ in 0..<100 {
                            switch random.below(4) {
                            case 0: handle.pause()
                            case 1: handle.resume()
                            default: handle.priority = random.below(2) == 0 ? .high : .low
                            }
                        }
                    }
                }
            }
            #expect(work.demand.withLock { $0 } == handle.promise.demand)
        }
    }

    @Test func `a handle that is deallocated ends its pause`() {
        let work = Work()
        var handle: RequestHandle<Int, Failure>? = RequestHandle(promise(work))
        handle?.pause()
        #expect(work.demand.withLock { $0?.isPaused } == true)
        handle = nil
        #expect(work.demand.withLock { $0?.isPaused } == false)
    }

    @Test func `a request that has ended is not paused, and keeps its priority`() {
        let work = Work()
        let handle = RequestHandle(promise(work))
        handle.pause()
        handle.priority = .high
        #expect(handle.isPaused)
        handle.promise.end(.success(1))
        #expect(!handle.isPaused && handle.priority == .high)
        handle.pause()
        handle.priority = .low
        #expect(!handle.isPaused && handle.priority == .low)
        #expect(work.demand.withLock { $0 } == TransferDemand(priority: 4, isPaused: true))
    }

    @Test func `progress arrives in steps, and ends with the request`() async {
        let handle = RequestHandle(promise(Work(first: bytes(100))))
        let stream = handle.progressUpdates
        handle.promise.report(bytes(100))
        handle.promise.report(bytes(105))
        let late = handle.progressUpdates
        handle.promise.report(bytes(300))
        handle.promise.report(bytes(1000), isLast: true)
        // A concurrent report that is older arrives later.
        handle.promise.report(bytes(900))
        handle.promise.end(.success(1))
        let expected: [[Int64]] = [[100, 200, 700], [105, 195, 700]]
        for (stream, steps) in zip([stream, late], expected) {
            var new: [Int64] = []
            for await progress in stream { new.append(progress.newBytes) }
            #expect(new == steps)
        }
        for await _ in handle.progressUpdates { Issue.record("the request has ended") }
    }

    @Test func `the first report does not replace a newer report`() async {
        let handle = RequestHandle(promise(Work(first: bytes(100))))
        handle.promise.report(bytes(500))
        let stream = handle.progressUpdates
        handle.promise.end(.failure(.other))
        var completed: [Int64] = []
        for await progress in stream { completed.append(progress.completedBytes) }
        #expect(completed == [500])
    }

    /// A value whose end uses the handle.
    private final class Caller: Sendable {
        let handle = Guarded<RequestHandle<Caller?, Failure>?>(nil)
        let ends: AsyncGate

        init(_ ends: AsyncGate) { self.ends = ends }

        deinit {
            let handle = handle.withLock { $0 }
            handle?.cancel()
            handle?.pause()
            handle?.priority = .high
            _ = (handle?.result, handle?.progressUpdates)
            ends.open()
        }
    }

    @Test func `a value may use the handle when it is released`() async {
        let ends = AsyncGate(3)
        func caller(_ handle: RequestHandle<Caller?, Failure>) -> Caller {
            let caller = Caller(ends)
            caller.handle.withLock { $0 = handle }
            return caller
        }
        let handle = RequestHandle(promise(of: Caller?.self, Work()))
        do {
            let listening = caller(handle)
            handle.promise.whenEnded { _ in withExtendedLifetime(listening) {} }
        }
        handle.promise.end(.success(nil))
        // Refused, because the request has ended.
        handle.promise.end(.success(caller(handle)))
        do {
            let other = RequestHandle(promise(of: Caller?.self))
            other.promise.end(.success(caller(handle)))
        }
        await ends.pass()
    }
}
