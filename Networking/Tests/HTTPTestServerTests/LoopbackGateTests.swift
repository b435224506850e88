import HTTPTestServer
import Testing

@Suite struct LoopbackGateTests {
    @Test func `tasks wait until the gate opens, and then pass`() async throws {
        let gate = LoopbackGate()
        async let first: Void = gate.pass()
        async let second: Void = gate.pass()
        await gate.reached(2)
        #expect(gate.waiting == 2 && gate.arrivals == 2 && !gate.isOpen)
        gate.open()
        _ = try await (first, second)
        try await gate.pass()
        #expect(gate.waiting == 0 && gate.arrivals == 3 && gate.isOpen)
    }

    @Test func `a cancelled task stops waiting and does not pass`() async throws {
        let gate = LoopbackGate()
        let task = Task { try await gate.pass() }
        await gate.reached()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(gate.waiting == 0 && gate.arrivals == 1)
    }

    @Test func `a task that is cancelled before the gate does not wait`() async throws {
        let gate = LoopbackGate()
        let start = LoopbackGate()
        let task = Task {
            try? await start.pass()
            try await gate.pass()
        }
        await start.reached()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await gate.deserted()
    }

    @Test func `concurrent cancellation and opening lose no task`() async throws {
        for _ in 0..<500 {
            let gate = LoopbackGate()
            let task = Task { try await gate.pass() }
            async let opened: Void = gate.open()
            task.cancel()
            await opened
            _ = await task.result
            #expect(gate.waiting == 0)
        }
    }
}
