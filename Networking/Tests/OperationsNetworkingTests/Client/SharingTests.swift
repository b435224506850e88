import Dispatch
import Foundation
import HTTPTypes
import HTTPTestServer
import Operations
@testable import OperationsNetworking
import OperationsTesting
import TestSupport
import Testing

/// Handles that join, leave and wait while their transfer ends (rule N2).
@Suite(.timeLimit(.minutes(5))) struct SharingTests {
    @Test func `a request after cancelAll begins a new transfer`() async throws {
        try await withServer({ _ in .text("x") }) { server in
            let client = try HTTPClientQueue(session: .plain())
            client.isSuspended = true
            let old = client.get(server.url + "/", as: .text)
            client.cancelAll()
            let new = client.get(server.url + "/", as: .text)
            client.isSuspended = false
            #expect(await reason { try await old.value }?.text == "cancelled")
            let value = await result { try await new.value }
            #expect((try? value.get()) == "x", "\(value)")
        }
    }

    @Test func `a handle that joins after the end does not decode on the caller's executor`() async throws {
        let key = DispatchSpecificKey<Bool>()
        // The main queue is the executor of the main actor.
        DispatchQueue.main.setSpecific(key: key, value: true)
        defer { DispatchQueue.main.setSpecific(key: key, value: nil) }
        try await withServer({ _ in .text("x") }) { server in
            let operation = HTTPDataOperation(get(server.url + "/"), as: .answer, session: .plain())
            let shared = SharedTransfer(operation)
            OperationQueue().addOperation(operation)
            await shared.endWithOperation()
            let late = RequestPromise<Bool, HTTPError>(
                url: server.url, cancellation: HTTPError(.cancelled, url: server.url), demand: TransferDemand(.normal))
            let participant = TransferParticipant(
                late, HTTPSerializer<Bool> { _, _ in DispatchQueue.getSpecific(key: key) == true }, waiter: 1,
                CoalescingKey(get(server.url), changes: 0, isShared: true), shared, in: SharedTransfers())
            late.begin(participant)
            let (waits, decodes) = try await Task { @MainActor in
                shared.add(participant)
                return (DispatchQueue.getSpecific(key: key) == true, try await late.value)
            }.value
            #expect(waits && !decodes)
        }
    }

    @Test func `several tasks that await one handle are cancelled separately`() async throws {
        let gate = LoopbackGate()
        try await withServer({ _ in LoopbackResponse(body: .pattern(length: 10)).with(.stalls(.beforeHead, until: gate))
        }) { server in
            let client = try HTTPClientQueue(session: .plain())
            let handle = client.get(server.url + "/", as: .data)
            let other = client.get(server.url + "/", as: .data)
            await gate.reached()
            let tasks = (0..<3).map { _ in Task { await reason { try await handle.value }?.text } }
            while handle.promise.waiterCount < 3 { await Task.yield() }
            // Cancelling the first task ends only its wait. The second task is cancelled later. The third task ends with its
            // handle, while another handle keeps the transfer running.
            tasks[0].cancel()
            #expect(await tasks[0].value == "cancelled")
            #expect(handle.promise.waiterCount == 2)
            tasks[1].cancel()
            #expect(await tasks[1].value == "cancelled")
            handle.cancel()
            #expect(await tasks[2].value == "cancelled")
            gate.open()
            let value = try await other.value
            #expect(value.count == 10)
        }
    }

    @Test func `a response is decoded as part of the operation, once per handle, and not for cancelled handles`()
        async throws
    {
        let gate = LoopbackGate()
        try await withServer({ _ in .text("x").with(.stalls(.beforeHead, until: gate)) }) { server in
            let client = try HTTPClientQueue(session: .plain())
            let decoded = Journal<Bool>()
            let serializer = HTTPSerializer<Int> { body, _ in
                decoded.append(OperationQueue.current === client.queue)
                return body.count
            }
            let handle = client.get(server.url + "/", as: serializer)
            let other = client.get(server.url + "/", as: serializer)
            let cancelled = client.get(server.url + "/", as: serializer)
            await gate.reached()
            cancelled.cancel()
            gate.open()
            await client.waitUntilIdle()
            #expect(decoded.entries == [true, true])
            for handle in [handle, handle, other] {
                let value = try await handle.value
                #expect(value == 1)
            }
            #expect(decoded.entries.count == 2)
        }
    }

    @Test func `cancelling a handle after the response arrived keeps the value`() async throws {
        try await withServer({ _ in .text("x") }) { server in
            let client = try HTTPClientQueue(session: .plain())
            let handle = client.get(server.url + "/", as: .text)
            _ = try await handle.value
            handle.cancel()
            let value = await result { try await handle.value }
            #expect((try? value.get()) == "x", "\(value)")
        }
    }

    @Test func `a transfer has the highest priority of concurrently created handles`() async throws {
        let client = try HTTPClientQueue(session: .plain())
        client.isSuspended = true
        for index in 0..<2000 {
            let url = "http://127.0.0.1:1/\(index)"
            async let low = Task { client.get(url, as: .data, priority: .low) }.value
            async let high = Task { client.get(url, as: .data, priority: .veryHigh) }.value
            let handles = await (low, high)
            #expect(handles.0.transfer?.queuePriority == .veryHigh)
            #expect(handles.0.transfer === handles.1.transfer)
        }
        client.cancelAll()
        client.isSuspended = false
        await client.waitUntilIdle()
    }

    @Test func `a client retries temporary failures after the server's delay`() async throws {
        let clock = VirtualClock()
        let policy = RetryPolicy(retries: 2, backoff: .constant(.zero))
        let session = HTTPSession.plain {
            $0.setClock(clock)
            $0.retryPolicy = policy
        }
        let server = try await HTTPTestServer.start(
            routes: LoopbackRoutes([
                .unavailable(times: 1, then: .always("/once", .text("x"))),
                .unavailable(times: 10, then: .always("/always", .text("x"))),
            ]))
        let client = try HTTPClientQueue(session: session)
        let value = await result { try await client.get(server.url + "/once", as: .text).value }
        #expect((try? value.get()) == "x", "\(value)")
        #expect(
            await reason { try await client.get(server.url + "/always", as: .text).value }?.text == "unacceptableStatus"
        )
        #expect(server.requests.count == 5)
        await server.stop()
    }

    @Test(arguments: 0..<UInt64(Stress.rounds(20, least: 6)))
    func `requests that join while transfers end all get a response`(seed: UInt64)
        async throws
    {
        try await withServer({ .text("\($0.number)") }) { server in
            let client = try HTTPClientQueue(session: .plain())
            await withTaskGroup { group in
                for worker in 0..<4 {
                    group.addTask {
                        var random = SeededRandom(seed: seed &* 100 &+ UInt64(worker))
                        for _ in 0..<50 {
                            let handle = client.get(server.url + "/\(random.below(2))", as: .text)
                            let kind = random.below(6)
                            if kind == 0 { handle.cancel() }
                            let task = Task { try await handle.value }
                            if kind == 1 { task.cancel() }
                            if kind == 2 { handle.cancel() }
                            let result = await task.result
                            if kind > 2 { #expect((try? result.get()) != nil, "\(result)") }
                        }
                    }
                }
            }
            await client.waitUntilIdle()
            let snapshot = client.queue.snapshot()
            #expect(snapshot.executing == 0 && snapshot.waiting == 0)
        }
    }
}
