import Foundation
import HTTPTypes
import HTTPTestServer
import Operations
@testable import OperationsNetworking
import OperationsTesting
import TestSupport
import Testing

/// Bandwidth caps of a session and of a request.
@Suite(.timeLimit(.minutes(5))) struct BandwidthTests {
    private let queue = OperationQueue()

    @Test(arguments: [true, false]) func `a capped download takes the expected time, within five percent`(
        isOfSession: Bool
    ) async throws {
        let clock = LeapingClock()
        let body = LoopbackBody.pattern(length: 5_000_000)
        try await withServer({ _ in LoopbackResponse(body: body) }) { server in
            let session = HTTPSession.plain {
                $0.setClock(clock)
                if isOfSession { $0.bandwidth = 1_000_000 }
            }
            var request = get(server.url + "/")
            request.limits.idleTimeout = nil
            if !isOfSession { request.limits.bandwidth = 1_000_000 }
            let operation = HTTPDataOperation(request, session: session)
            queue.addOperation(operation)
            let value = try await operation.value
            #expect(value == Data(body.bytes))
            #expect(4.75...5.25 ~= clock.seconds, "5 MB at 1 MB/s took \(clock.seconds) s")
            #expect(950_000...1_050_000 ~= operation.measuredBandwidth, "measured: \(operation.measuredBandwidth) B/s")
            #expect(950_000...1_050_000 ~= session.measuredBandwidth)
        }
    }

    @Test func `a capped upload takes the expected time, for every kind of body`() async throws {
        let folder = try Folder()
        let data = Data(LoopbackBody.pattern(length: 1_000_000).bytes)
        try data.write(to: URL(filePath: folder.file("a")))
        var form = MultipartForm()
        form.append("file", filePath: folder.file("a"))
        let pieces = AsyncStream<[UInt8]> { stream in
            for start in stride(from: 0, to: data.count, by: 10_000) {
                stream.yield([UInt8](data[start..<start + 10_000]))
            }
            stream.finish()
        }
        try await withServer({ LoopbackResponse.text("\($0.bodyLength)") }) { server in
            for body in [HTTPRequestBody.bytes(data), .file(path: folder.file("a")), .multipart(form), .none] {
                let clock = LeapingClock()
                let session = HTTPSession.plain {
                    $0.setClock(clock)
                    $0.bandwidth = 500_000
                }
                var request = HTTPRequestDescription(.post, server.url + "/", body: body)
                request.limits.idleTimeout = nil
                let operation =
                    body == .none
                    ? HTTPDataOperation(
                        request, sending: HTTPBodySource(pieces, length: 1_000_000), as: .text, session: session)
                    : HTTPDataOperation(request, as: .text, session: session)
                queue.addOperation(operation)
                let sent = try await operation.value
                #expect(1_000_000...1_000_500 ~= Int(sent)!)
                #expect(1.9...2.1 ~= clock.seconds, "1 MB at 500 kB/s took \(clock.seconds) s")
            }
        }
    }

    @Test func `waiting for bandwidth does not exceed the idle limit`() async throws {
        let clock = VirtualClock()
        try await withServer({ _ in LoopbackResponse(body: .pattern(length: 20_000)) }) { server in
            let session = HTTPSession.plain {
                $0.setClock(clock)
                $0.bandwidth = 100
            }
            let operation = HTTPDataOperation(get(server.url + "/"), session: session)
            queue.addOperation(operation)
            for _ in 1...5 {
                while session.throttle.waitingCount == 0 { await Task.yield() }
                clock.advance(by: .seconds(11))
            }
            session.bandwidth = nil
            let value = try await operation.value
            #expect(value.count == 20_000)
        }
    }

    @Test func `a waiting transfer continues when the cap is removed, and not before`() async throws {
        let clock = VirtualClock()
        let throttle = Throttle(rate: 1000, ticker: Ticker(clock))
        let user = throttle.newUser()
        try await throttle.pass(0, for: user)
        let waiting = Task { try await throttle.pass(10_000, for: user) }
        while clock.sleeperCount == 0 { await Task.yield() }
        clock.advance(by: .seconds(9))
        #expect(throttle.waitingCount == 1)
        throttle.rate = nil
        try await waiting.value
        #expect(throttle.waitingCount == 0)
    }

    @Test func `a cancelled transfer stops waiting, and uses no bandwidth`() async throws {
        let clock = VirtualClock()
        let throttle = Throttle(rate: 1000, ticker: Ticker(clock))
        let (first, second) = (throttle.newUser(), throttle.newUser())
        let cancelled = Task { try await throttle.pass(1_000_000, for: first) }
        while throttle.waitingCount == 0 { await Task.yield() }
        let other = Task { try await throttle.pass(500, for: second) }
        while throttle.waitingCount == 1 { await Task.yield() }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        // A task that was cancelled earlier does not wait.
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await throttle.pass(1, for: first)
        }
        await #expect(throws: CancellationError.self) { try await late.value }
        // The alarm of the cancelled task remains, 1000 seconds from now.
        while clock.nextDeadline.map({ $0.offset > .seconds(1) }) ?? true { await Task.yield() }
        clock.advanceToNextSleeper()
        try await other.value
        #expect(clock.now.offset <= .seconds(1))
    }
}

/// A clock that wakes each sleeper at once and advances to its deadline.
final class LeapingClock: Clock {
    struct Instant: InstantProtocol {
        var offset = Duration.zero

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
    }

    private let instant = Guarded(Instant())

    var now: Instant { instant.withLock { $0 } }
    var minimumResolution: Duration { .nanoseconds(1) }
    var seconds: Double { now.offset / .seconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        await Task.yield()
        try Task.checkCancellation()
        instant.withLock { $0 = max($0, deadline) }
    }
}
