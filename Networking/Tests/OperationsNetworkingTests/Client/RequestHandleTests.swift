import Foundation
import HTTPCore
import HTTPTestServer
import HTTPTypes
import Operations
@testable import OperationsNetworking
import OperationsTesting
import TestSupport
import Testing

/// Handles of requests that share a transfer: results, pauses, priorities and progress (rules N2, N5).
@Suite(.timeLimit(.minutes(5))) struct RequestHandleTests {
    private let url = "http://127.0.0.1:1/"

    private func suspendedClient() throws -> HTTPClientQueue {
        let client = try HTTPClientQueue(session: .plain())
        client.isSuspended = true
        return client
    }

    @Test func `a result is available when the client is idle, and nil before`() async throws {
        try await withServer({ $0.path == "/a" ? .text("x") : .notFound }) { server in
            let client = try HTTPClientQueue(session: .plain())
            client.isSuspended = true
            let (good, bad) = (client.get(server.url + "/a", as: .text), client.get(server.url + "/b", as: .text))
            let cancelled = client.get("http://me:secret@127.0.0.1:\(server.port)/c", as: .text)
            #expect(good.result == nil && bad.result == nil && cancelled.result == nil)
            cancelled.cancel()
            client.isSuspended = false
            await client.waitUntilIdle()
            #expect((try? good.result?.get()) == "x")
            guard case .failure(let refused) = bad.result, case .failure(let cancellation) = cancelled.result else {
                Issue.record("\(String(describing: bad.result)), \(String(describing: cancelled.result))")
                return
            }
            #expect(HTTPCoreReason(refused).text == "unacceptableStatus")
            #expect(HTTPCoreReason(cancellation) == HTTPCoreReason(text: "cancelled", url: server.url + "/c"))
            #expect(cancelled.url == server.url + "/c" && good.transfer?.response?.status == .ok)
        }
    }

    @Test func `a request continues without its client and its handle`() async throws {
        try await withServer({ _ in .text("x") }) { server in
            var client: HTTPClientQueue? = try HTTPClientQueue(session: .plain())
            let queue = client?.queue
            queue?.isSuspended = true
            let handle = client?.get(server.url + "/kept", as: .text)
            let progress = client?.get(server.url + "/dropped", as: .text).progressUpdates
            client = nil
            queue?.isSuspended = false
            let value = try await handle?.value
            #expect(value == "x")
            var received: Int64 = 0
            for await step in try #require(progress) { received += step.newBytes }
            #expect(received == 1)
        }
    }

    @Test func `progress is reported in steps, and ends with the handle`() async throws {
        let gate = LoopbackGate()
        try await withServer({ _ in
            LoopbackResponse(body: .pattern(length: 100_000)).with(.stalls(.afterBody(50_000), until: gate))
        }) { server in
            let client = try HTTPClientQueue(session: .plain())
            client.isSuspended = true
            let (handle, cancelled) = (client.get(server.url + "/", as: .data), client.get(server.url + "/", as: .data))
            let (early, ending) = (handle.progressUpdates, cancelled.progressUpdates)
            client.isSuspended = false
            for await step in ending where step.completedBytes == 50_000 { cancelled.cancel() }
            let late = handle.progressUpdates
            gate.open()
            for stream in [early, late] {
                var (sum, count) = (Int64(0), 0)
                for await step in stream {
                    (sum, count) = (sum + step.newBytes, count + 1)
                    #expect(step.totalBytes == 100_000)
                }
                #expect(sum == 100_000 && count <= 102)
            }
            for await _ in handle.progressUpdates { Issue.record("the request has ended") }
        }
    }

    @Test func `a cancelled handle leaves only paused handles, so that their transfer pauses`() throws {
        let client = try suspendedClient()
        let (one, other, last) = (client.get(url, as: .text), client.get(url, as: .text), client.get(url, as: .text))
        one.pause()
        other.pause()
        #expect(one.isPaused && !last.isPaused && one.transfer?.state == .ready)
        last.cancel()
        #expect(one.transfer?.state == .paused)
        // A paused handle that is cancelled changes nothing for the others.
        other.cancel()
        #expect(one.transfer?.state == .paused && !other.isPaused && one.isPaused)
        one.cancel()
        #expect(one.transfer?.isCancelled == true)
    }

    @Test func `cancelling paused handles ends a transfer that is stalled in its body`() async throws {
        let gate = LoopbackGate()
        try await withServer({ _ in
            LoopbackResponse(body: .pattern(length: 1000)).with(.stalls(.afterBody(10), until: gate))
        }) { server in
            let client = try HTTPClientQueue(maxConcurrentRequests: 1, session: .plain())
            let handles = (0..<3).map { _ in client.get(server.url + "/", as: .data) }
            await gate.reached()
            for handle in handles { handle.pause() }
            await client.queue.addTask {}.waitUntilFinished()
            #expect(handles[0].transfer?.state == .paused)
            for handle in handles { handle.cancel() }
            for handle in handles { #expect(await reason { try await handle.value }?.text == "cancelled") }
            await client.waitUntilIdle()
            await server.openConnections(are: 0)
        }
    }

    @Test func `a priority that changes during a pause counts, and does not end the pause`() throws {
        let client = try suspendedClient()
        let (one, other) = (client.get(url, as: .text, priority: .low), client.get(url, as: .text, priority: .low))
        one.pause()
        other.pause()
        one.priority = .veryHigh
        #expect(one.transfer?.queuePriority == .veryHigh && one.transfer?.isPaused == true)
        other.resume()
        one.priority = .veryLow
        #expect(one.transfer?.queuePriority == .low && one.transfer?.isPaused == false && one.isPaused)
        client.cancelAll()
    }

    @Test func `a change of priority does not resume an operation that a caller has paused`() throws {
        let client = try suspendedClient()
        let handle = client.get(url, as: .text)
        handle.transfer?.pause()
        handle.priority = .high
        #expect(handle.transfer?.isPaused == true && !handle.isPaused)
        handle.pause()
        handle.resume()
        #expect(handle.transfer?.isPaused == false)
        client.cancelAll()
    }

    @Test func `a request that begins paused sends nothing until it is resumed`() async throws {
        try await withServer({ _ in .text("x") }) { server in
            let client = try HTTPClientQueue(maxConcurrentRequests: 1, session: .plain())
            let demand = TransferDemand(priority: 0, isPaused: true)
            let handle = client.load(get(server.url + "/"), as: .text, demand)
            let other = client.load(get(server.url + "/"), as: .text, demand)
            await client.queue.addTask {}.waitUntilFinished()
            #expect(handle.isPaused && other.isPaused && server.requests.isEmpty)
            #expect(client.counts.paused == 1)
            other.resume()
            let value = try await handle.value
            #expect(value == "x" && !handle.isPaused && server.requests.count == 1)
        }
    }

    @Test func `a deallocated handle neither cancels nor pauses its request`() async throws {
        try await withServer({ _ in .text("x") }) { server in
            let client = try HTTPClientQueue(session: .plain())
            client.isSuspended = true
            let kept = client.get(server.url + "/", as: .text)
            kept.pause()
            var dropped: HTTPRequestHandle<String>? = client.get(server.url + "/", as: .text)
            dropped?.pause()
            #expect(kept.transfer?.isPaused == true)
            dropped = nil
            // The request of the deallocated handle continues, so that its transfer does.
            #expect(kept.transfer?.isPaused == false && kept.isPaused)
            client.isSuspended = false
            let value = try await kept.value
            #expect(value == "x")
        }
    }

    @Test(arguments: 0..<UInt64(Stress.rounds(5, least: 2)))
    func `a thousand handles of one transfer agree with a naive model`(seed: UInt64)
        throws
    {
        var random = SeededRandom(seed: seed)
        let client = try suspendedClient()
        let handles = (0..<1000).map { _ in client.get(url, as: .text, priority: .veryLow) }
        let transfer = try #require(handles[0].transfer)
        var model = [Int: TransferDemand](uniqueKeysWithValues: handles.indices.map { ($0, TransferDemand(.veryLow)) })
        let priorities: [Operation.QueuePriority] = [.veryLow, .low, .normal, .high, .veryHigh]
        // Few handles remain after a while, so that all of them are paused often.
        for _ in 0..<4000 {
            let index = random.below(1000)
            let handle = handles[index]
            switch random.below(5) {
            case 0 where model.count > 3:
                handle.cancel()
                model[index] = nil
            case 1:
                handle.resume()
                model[index]?.isPaused = false
            case 2:
                let priority = priorities[random.below(5)]
                handle.priority = priority
                model[index]?.priority = priority.rawValue
            default:
                handle.pause()
                model[index]?.isPaused = true
            }
            let demand = TransferDemand.combined(of: model.values)
            guard transfer.isPaused == demand.isPaused, transfer.queuePriority == demand.queuePriority,
                handle.isPaused == model[index]?.isPaused ?? false
            else {
                Issue.record("seed \(seed): \(transfer.isPaused), \(transfer.queuePriority), expected \(demand)")
                break
            }
        }
        client.cancelAll()
    }

    @Test(arguments: 0..<UInt64(Stress.rounds(5, least: 2)))
    func `concurrent steps of a thousand handles leave the transfer in the right state`(
        seed: UInt64
    ) async throws {
        try await withServer({ _ in .text("x") }) { server in
            let client = try HTTPClientQueue(session: .plain())
            client.isSuspended = true
            let handles = (0..<1000).map { _ in client.get(server.url + "/", as: .text) }
            let transfer = try #require(handles[0].transfer)
            let remaining = await withTaskGroup(of: [Int: TransferDemand].self) { group in
                for worker in 0..<4 {
                    group.addTask {
                        var random = SeededRandom(seed: seed &* 4 &+ UInt64(worker))
                        var demands: [Int: TransferDemand] = [:]
                        for index in handles.indices where index % 4 == worker {
                            let handle = handles[index]
                            var isCancelled = false
                            for _ in 0..<random.below(6) {
                                switch random.below(5) {
                                case 0: handle.resume()
                                case 1: handle.priority = random.below(2) == 0 ? .high : .low
                                case 2 where index > 3:
                                    handle.cancel()
                                    isCancelled = true
                                default: handle.pause()
                                }
                            }
                            if seed % 2 == 0 { handle.pause() }
                            if !isCancelled { demands[index] = handle.promise.demand }
                        }
                        return demands
                    }
                }
                var all: [Int: TransferDemand] = [:]
                for await demands in group { all.merge(demands) { $1 } }
                return all
            }
            let demand = TransferDemand.combined(of: remaining.values)
            #expect(transfer.isPaused == demand.isPaused && transfer.queuePriority == demand.queuePriority)
            client.isSuspended = false
            if let some = remaining.keys.min() { handles[some].resume() }
            for index in handles.indices {
                let value = await result { try await handles[index].value }
                #expect(((try? value.get()) == "x") == (remaining[index] != nil), "\(value)")
            }
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: 0..<UInt64(5))
    func `a pause and a resume at the same moment leave the transfer in the right state`(
        seed: UInt64
    ) async throws {
        let client = try suspendedClient()
        let handles = (0..<3).map { _ in client.get(url, as: .text) }
        let transfer = try #require(handles[0].transfer)
        var random = SeededRandom(seed: seed)
        for _ in 0..<1000 {
            // Each handle changes in a task of its own.
            await withTaskGroup { group in
                for handle in handles {
                    let (pauses, priority) = (random.below(3) > 0, random.below(2) == 0 ? 4 : -4)
                    group.addTask {
                        if pauses { handle.pause() } else { handle.resume() }
                        handle.promise.update { $0.priority = priority }
                    }
                }
            }
            let demand = TransferDemand.combined(of: handles.map(\.promise.demand))
            guard transfer.isPaused == demand.isPaused, transfer.queuePriority == demand.queuePriority else {
                Issue.record("seed \(seed): \(transfer.isPaused), \(transfer.queuePriority), expected \(demand)")
                break
            }
        }
        client.cancelAll()
    }

    /// Pauses and resumes during the transfer itself, on all threads.
    @Test(arguments: 0..<UInt64(Stress.rounds(5, least: 2)))
    func `a running transfer ends for all handles after random steps`(seed: UInt64)
        async throws
    {
        let resource = LoopbackResource(.pattern(length: 200_000), eTag: "\"a\"")
        try await withServer({ resource.response(to: $0) }) { server in
            let client = try HTTPClientQueue(session: .plain())
            client.isSuspended = true
            let handles = (0..<50).map { _ in client.get(server.url + "/", as: .data) }
            client.isSuspended = false
            await withTaskGroup { group in
                for (index, handle) in handles.enumerated() {
                    group.addTask {
                        var random = SeededRandom(seed: seed &* 50 &+ UInt64(index))
                        for _ in 0..<20 {
                            switch random.below(20) {
                            case 0 where index > 0: handle.cancel()
                            case 1...3: handle.priority = .high
                            case 4...8: handle.resume()
                            default: handle.pause()
                            }
                            await Task.yield()
                        }
                        if random.below(2) == 0 { handle.resume() }
                    }
                }
            }
            handles[0].resume()
            for handle in handles {
                let value = await result { try await handle.value }
                switch value {
                case .success(let data): #expect(data.count == 200_000)
                case .failure(let error): #expect((error as? HTTPError).map { HTTPCoreReason($0).text } == "cancelled")
                }
            }
        }
    }

    @Test func `a request fails if the queue of its client is full`() async throws {
        try await withServer({ _ in .text("x") }) { server in
            let folder = try Folder()
            let client = try HTTPClientQueue(session: .plain())
            client.isSuspended = true
            client.queue.setCapacity(1)
            let first = client.get(server.url + "/1", as: .text)
            let joining = client.get(server.url + "/1", as: .text)
            let rejected = client.get(server.url + "/2", as: .text)
            let download = client.download(server.url + "/3", to: folder.file("x"))
            let member = HTTPDataOperation(get(server.url + "/4"), session: .plain())
            let batch = client.batch([.operation(member)])
            #expect(await reason { try await rejected.value }?.text == "connection")
            #expect(await reason { try await download.value }?.text == "connection")
            #expect(await reason { try await batch.values }?.text == "connection")
            client.isSuspended = false
            let values = [try await first.value, try await joining.value]
            #expect(values == ["x", "x"] && server.requests.count == 1 && client.counts.outstanding == 0)
            client.queue.setCapacity(nil)
            let again = try await client.get(server.url + "/2", as: .text).value
            #expect(again == "x")
        }
    }

    @Test func `a time limit of the operation is an error of the request`() async throws {
        let clock = VirtualClock()
        let gate = LoopbackGate()
        try await withServer({ _ in
            try? await gate.pass()
            return .text("x")
        }) { server in
            let client = try HTTPClientQueue(session: .plain())
            client.isSuspended = true
            let handle = client.get(server.url + "/", as: .text)
            handle.transfer?.setTimeout(.seconds(1), clock: clock)
            client.isSuspended = false
            await gate.reached()
            clock.advance(by: .seconds(2))
            #expect(await reason { try await handle.value }?.text == "timedOut")
            gate.open()
        }
    }
}

extension TransferDemand {
    /// Returns the combination of demands by its definition.
    fileprivate static func combined(of demands: some Collection<TransferDemand>) -> Self {
        TransferDemand(
            priority: demands.map(\.priority).max() ?? 0, isPaused: !demands.contains { !$0.isPaused })
    }
}
