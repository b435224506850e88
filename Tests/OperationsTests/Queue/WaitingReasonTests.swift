@testable import Operations
import Testing

/// Rule N3: people read these texts in a hang, so each names the remedy where there is one.
@Suite struct WaitingReasonTests {
    static let texts: [(WaitingReason, String)] = [
        (.executing, "executes"),
        (.awaits("Operation 'a'"), "waits in its work for Operation 'a'"),
        (.awaitsQueue("q"), "waits in its work for all operations of queue 'q'"),
        (.child("Operation 'a'"), "waits for its child Operation 'a'"),
        (.mainThread(waitsFor: "Operation 'a'"), "waits for the main thread, which waits for Operation 'a'"),
        (.finished, "has finished"),
        (.inNoQueue, "is in no queue and has not been started; add it to a queue or start it"),
        (.cycle(["a", "b", "a"]), "waits for itself: a → b → a"),
        (
            .dependencyInNoQueue("Operation 'a'"),
            "waits for Operation 'a', which is in no queue; add it to one or start it"
        ),
        (.dependency("Operation 'a'"), "waits for Operation 'a'"),
        (.queueSuspended(queue: "q"), "queue 'q' is suspended; set isSuspended to false"),
        (.limitZero(queue: "q"), "the concurrency limit of queue 'q' is 0; raise maxConcurrentOperationCount"),
        (.barrier(heldBy: []), "waits for a barrier in front of it"),
        (.barrier(heldBy: holders(1)), "waits for a barrier in front of it, held by a0 for 2.5 s"),
        (.customIsReady, "its overridden isReady is false; announce isReady when it becomes true"),
        (.readyNotAnnounced, #"isReady is true but was not announced; call didChangeValue(for: \.isReady)"#),
        (.finishNotAnnounced, #"isFinished is true but was not announced; call didChangeValue(for: \.isFinished)"#),
        (.conditions(["online", "charged"]), "waits for its conditions: online, charged"),
        (.resource(name: "gpu", units: 2, inUse: 1, capacity: 2), "waits for 2 of 'gpu', of which 1 of 2 are in use"),
        (
            .resourceLine(name: "gpu", behind: "Operation 'a'"),
            "waits behind Operation 'a', which requested 'gpu' earlier and waits as well"
        ),
        (.exclusion("x", heldBy: "Operation 'a'"), "waits for the exclusive name 'x', which Operation 'a' holds"),
        (.exclusion("x", heldBy: nil), "waits for the exclusive name 'x'"),
        (.dispatchQueue("d", heldBy: holders(1)), "waits for a thread of dispatch queue 'd', taken by a0 for 2.5 s"),
        (.capacity(queue: "q"), "waits for capacity in queue 'q', which is full"),
        (.key("host", heldBy: []), "waits for its turn under key 'host'"),
        (
            .key("host", heldBy: holders(1)),
            "waits for its turn under key 'host', whose limit is reached by a0 for 2.5 s"
        ),
        (.rateLimit(queue: "q"), "waits for a permit of the rate limit of queue 'q'"),
        (.slot(queue: "q", limit: 1, heldBy: []), "is about to start"),
        (
            .slot(queue: "q", limit: 1, heldBy: holders(1)),
            "waits for a slot of queue 'q' (limit 1), taken by a0 for 2.5 s"
        ),
        (
            .slot(queue: "q", limit: 4, heldBy: holders(4)),
            "waits for a slot of queue 'q' (limit 4), taken by a0 for 2.5 s, a1 for 2.5 s, a2 for 2.5 s and 1 more"
        ),
        (
            .slot(queue: "q", limit: 5, heldBy: holders(5)),
            "waits for a slot of queue 'q' (limit 5), taken by a0 for 2.5 s, a1 for 2.5 s, a2 for 2.5 s and 2 more"
        ),
        (.slotReleased(for: .milliseconds(2500)), "has released its slot, and continues in 2.5 s"),
        (.paused, "is paused; resume it"),
        (.group("GroupOperation 'g'"), "waits for its group GroupOperation 'g' to start"),
    ]

    @Test func `each reason has its text, with the remedy`() {
        for (reason, text) in Self.texts { #expect(reason.description == text) }
    }

    private static func holders(_ count: Int) -> [WaitingReason.Holder] {
        (0..<count).map { WaitingReason.Holder(operation: "a\($0)", executionTime: .milliseconds(2500)) }
    }

    @Test func `no name in a text adds a line or makes it long`() {
        let name = "a\nb\u{1B}" + String(repeating: "c", count: 5000)
        let held = Self.holders(1)
        let reasons: [WaitingReason] = [
            .awaitsQueue(name), .queueSuspended(queue: name), .limitZero(queue: name), .conditions([name]),
            .resource(name: name, units: 1, inUse: 1, capacity: 1), .resourceLine(name: name, behind: "a"),
            .exclusion(name, heldBy: "a"), .capacity(queue: name), .key(name, heldBy: held), .rateLimit(queue: name),
            .slot(queue: name, limit: 1, heldBy: held), .dispatchQueue(name, heldBy: held),
        ]
        let queue = OperationQueue()
        queue.name = name
        let texts =
            reasons.map(\.description) + [
                queue.label, queue.description, queue.explain().description, queue.snapshot().description,
            ]
        for text in texts {
            #expect(text.utf8.count < 1000 && !text.contains { $0.isNewline || $0 == "\u{1B}" })
        }
    }

    @Test func `an explanation has the operation before its reasons`() {
        let explanation = Explanation(operation: "Operation 'a'", reasons: [.barrier(heldBy: []), .paused])
        #expect(explanation.description == "Operation 'a': waits for a barrier in front of it; is paused; resume it")
        #expect(
            Explanation(operation: "Operation 'a'", reasons: []).description == "Operation 'a': nothing holds it back")
    }
}
