import HTTPTestServer
import Operations
@testable import OperationsNetworking
import OperationsTesting
import Testing

/// The watch of time limits.
@Suite(.timeLimit(.minutes(5))) struct WatchTests {
    @Test func `a sleeper is replaced only for an earlier end`() {
        var watch = WatchState()
        #expect(watch.added(end: .seconds(10)) == .init(sleeper: 1, until: .seconds(10)))
        #expect(watch.added(end: .seconds(10)) == nil)
        #expect(watch.added(end: .seconds(11)) == nil)
        #expect(watch.added(end: .seconds(9)) == .init(sleeper: 2, until: .seconds(9)))
        let (replaced, current) = (watch.woke(1), watch.woke(2))
        #expect(!replaced && current)
    }

    @Test func `a sleeper sleeps again while attempts remain, and then rests`() {
        var watch = WatchState()
        _ = watch.added(end: .seconds(10))
        for next in [20, 30] {
            let woke = watch.woke(1)
            #expect(woke && watch.looked(next: .seconds(next)) == .seconds(next))
            #expect(watch.added(end: .seconds(next)) == nil)
        }
        let woke = watch.woke(1)
        #expect(woke && watch.looked(next: nil) == nil)
        #expect(watch.added(end: .seconds(50)) == .init(sleeper: 2, until: .seconds(50)))
    }

    @Test func `an attempt that is added during a check is scheduled too`() {
        for (added, next, expected) in [([15, 12], 20, 12), ([90], 20, 20), ([30], nil, 30)] as [([Int], Int?, Int)] {
            var watch = WatchState()
            _ = watch.added(end: .seconds(10))
            let woke = watch.woke(1)
            #expect(woke && added.allSatisfy { watch.added(end: .seconds($0)) == nil })
            #expect(watch.looked(next: next.map { .seconds($0) }) == .seconds(expected))
        }
    }

    @Test func `many transfers share one sleeper, which remains after their end`() async throws {
        let clock = VirtualClock()
        let session = HTTPSession.plain { $0.setClock(clock) }
        let queue = OperationQueue()
        try await withServer({ _ in LoopbackResponse(body: .pattern(length: 10)) }) { server in
            let operations = (0..<50).map { _ in HTTPDataOperation(get(server.url + "/"), session: session) }
            await queue.addOperations(operations, waitUntilFinished: false)
            for operation in operations { _ = try await operation.value }
            while clock.sleeperCount == 0 { await Task.yield() }
            #expect(clock.sleeperCount == 1)
            clock.advance(by: .seconds(10))
            #expect(clock.sleeperCount == 0)
            // The sleeper has found no attempt and rests, and a new attempt starts another sleeper.
            let operation = HTTPDataOperation(get(server.url + "/"), session: session)
            queue.addOperation(operation)
            _ = try await operation.value
        }
    }
}
