import KeyValueObserving
import TestSupport
import Testing

/// Properties that depend on properties of other objects, which depend on properties of other objects in turn.
@Suite(.timeLimit(.minutes(5))) struct DependentChainTests {
    @Test func `a property that depends on itself notifies its observer once for each change`() {
        let (stop, other, log) = (Stop(), Stop(), Journal<[Int]>())
        stop.next = stop
        let token = stop.observe(\.total, options: [.old, .new]) { log.append([$1.oldValue!, $1.newValue!]) }
        stop.own = 2
        #expect(log.entries == [[1, 2]])
        stop.next = other
        other.own = 3
        stop.next = stop
        other.own = 4
        stop.own = 5
        #expect(log.entries == [[1, 2], [2, 2], [2, 2], [2, 2], [2, 5]])
        token.invalidate()
        #expect(stop.keyValueRegistrar.isEmpty && other.keyValueRegistrar.isEmpty)
        stop.next = nil
    }

    @Test(arguments: [2, 3, 100])
    func `a ring of dependent properties notifies the observer once for each change of any object`(count: Int) {
        let (stops, log) = (Stop.ring(count), Journal<Int>())
        let token = stops[0].observe(\.total) { _, _ in log.append(1) }
        for (index, stop) in stops.enumerated() {
            stop.own = 2
            #expect(log.entries.count == index + 1)
        }
        token.invalidate()
        #expect(areUnobserved(stops))
        for stop in stops { stop.next = nil }
    }

    @Test func `an observer outside a ring is notified of changes in the ring until its path leaves the ring`() {
        let (outside, ring, log) = (Stop(), Stop.ring(3), Journal<Int>())
        outside.next = ring[1]
        let token = outside.observe(\.total) { _, _ in log.append(1) }
        for stop in ring { stop.own = 2 }
        #expect(log.entries.count == 3)
        outside.next = nil
        for stop in ring { stop.own = 3 }
        #expect(log.entries.count == 4)
        #expect(areUnobserved(ring))
        token.invalidate()
        withExtendedLifetime(outside) {}
        for stop in ring { stop.next = nil }
    }

    @Test func `objects that depend on both neighbors notify the observer once for each change`() {
        let (stops, log) = (Stop.chain(100), Journal<Int>())
        for (stop, next) in zip(stops, stops.dropFirst()) { next.previous = stop }
        let token = stops[50].observe(\.both) { _, _ in log.append(1) }
        for (index, stop) in stops.enumerated() {
            stop.own = 2
            #expect(log.entries.count == index + 1)
        }
        token.invalidate()
        #expect(areUnobserved(stops))
        for stop in stops { stop.next = nil }
    }

    /// Recursion over the chain would overflow the stack.
    @Test(.onSmallStack, .tags(.slow, .release))
    func `a very long chain of dependent objects is observed, changed, cut and released`() {
        let count = Stress.rounds(30_000, least: 1_500)
        var stops = Stop.chain(count)
        defer { for stop in stops { stop.next = nil } }
        let log = Journal<Int>()
        func observe() -> NSKeyValueObservation {
            stops[0].observe(\.total, options: [.old, .new]) { _, change in log.append(change.newValue!) }
        }
        let token = observe()
        stops[count - 1].own = 2
        #expect(log.entries.count == 1)
        let middle = stops[count / 2]
        let rest = middle.next
        middle.next = nil
        #expect(log.entries.count == 2)
        #expect(areUnobserved(stops[(count / 2 + 1)...]))
        middle.next = rest
        stops[count - 1].own = 3
        #expect(log.entries.count == 4)
        token.invalidate()
        #expect(areUnobserved(stops))

        let kept = observe()
        stops[0].next = nil
        stops[0].next = stops[1]
        stops[count - 1].own = 4
        #expect(log.entries.count == 7)
        stops.removeFirst()
        #expect(areUnobserved(stops))
        withExtendedLifetime(kept) {}
    }

    @Test func `a handler at the end of a chain that changes another chain returns after that chain's observers`() {
        let (first, second, log) = (Stop.chain(100), Stop.chain(100), Journal<String>())
        let tokens = [
            first[0].observe(\.total) { _, _ in
                log.append("begin")
                second[99].own += 1
                log.append("end")
            },
            second[0].observe(\.total) { _, _ in log.append("second") },
        ]
        first[99].own = 2
        #expect(log.entries == ["begin", "second", "end"])
        for token in tokens { token.invalidate() }
        withExtendedLifetime((first, second)) {}
    }

    @Test(.tags(.threads)) func `a chain follows the changes of several threads to its last object`() {
        for _ in 0..<Stress.rounds(300, least: 12) {
            let (stops, spare, log, start) = (Stop.chain(16), Stop.chain(16), Journal<Int>(), Gate(3))
            let token = stops[0].observe(\.total, options: .new) { _, _ in log.append(1) }
            let threads = (0..<3).map { thread in
                TestThread {
                    start.meet()
                    for step in stride(from: thread, to: 12, by: 3) {
                        stops[step].next = spare[step + 1]
                        spare[step + 1].own += 1
                        stops[step].next = stops[step + 1]
                    }
                }
            }
            for thread in threads { thread.join() }
            let before = log.entries.count
            stops[15].own = 7
            #expect(log.entries.count == before + 1)
            #expect(areUnobserved(spare))
            token.invalidate()
            #expect(areUnobserved(stops))
        }
    }
}

private func areUnobserved(_ stops: some Sequence<Stop>) -> Bool { stops.allSatisfy { $0.keyValueRegistrar.isEmpty } }

/// An object whose totals depend on those of its neighbors.
private final class Stop: KeyValueObservable, @unchecked Sendable {
    // Sendable: each property has its own lock.
    let keyValueRegistrar = KeyValueRegistrar()
    private let number = Guarded(1)
    private let following = Guarded<Stop?>(nil)
    private let preceding = Guarded(Link())

    private struct Link { weak var stop: Stop? }

    /// Returns objects that refer to one another in order.
    static func chain(_ count: Int) -> [Stop] {
        let stops = (0..<count).map { _ in Stop() }
        for (stop, next) in zip(stops, stops.dropFirst()) { stop.following.withLock { $0 = next } }
        return stops
    }

    /// Returns objects that refer to one another in order, and the last one to the first. The caller cuts the ring.
    static func ring(_ count: Int) -> [Stop] {
        let stops = chain(count)
        stops[count - 1].following.withLock { $0 = stops[0] }
        return stops
    }

    var own: Int {
        get { number.withLock { $0 } }
        set {
            willChangeValue(forKey: "own")
            number.withLock { $0 = newValue }
            didChangeValue(forKey: "own")
        }
    }

    var next: Stop? {
        get { following.withLock { $0 } }
        set {
            willChangeValue(forKey: "next")
            let old = following.withLock { following in
                defer { following = newValue }
                return following
            }
            didChangeValue(forKey: "next")
            _ = consume old
        }
    }

    var previous: Stop? {
        get { preceding.withLock { $0.stop } }
        set { preceding.withLock { $0.stop = newValue } }
    }

    var total: Int { own }
    var both: Int { own }

    static var keyValueKeys: [KeyValueKey] {
        [
            KeyValueKey("own", \Stop.own), KeyValueKey("next", \Stop.next), KeyValueKey("previous", \Stop.previous),
            KeyValueKey("total", \Stop.total, affectedBy: ["own", "next.total"]),
            KeyValueKey("both", \Stop.both, affectedBy: ["own", "next.both", "previous.both"]),
        ]
    }
}
