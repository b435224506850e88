#if Networking
import LoopbackServer
import Testing

@Suite struct LoopbackGateTests {
    @Test func `who comes waits until it opens, and passes from then on`() async throws {
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

    @Test func `who is cancelled waits no more and does not pass`() async throws {
        let gate = LoopbackGate()
        let task = Task { try await gate.pass() }
        await gate.reached()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(gate.waiting == 0 && gate.arrivals == 1)
    }

    @Test func `cancelled before it came, it does not wait`() async throws {
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

    @Test func `cancelling and opening at once lose nobody`() async throws {
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
#endif
