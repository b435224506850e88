import KeyValueObserving
import TestSupport
import Testing

/// Paths whose objects several threads change at the same time.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct PathRaceTests {
    @Test(arguments: [false, true])
    func `a path follows an object that another thread sets while the watch reads the path`(isFirst: Bool) {
        let (root, first, second, log) = (Hub(), Hub(), Hub(), Journal<Int>())
        let replace: @Sendable () -> Void = { TestThread { root.next = second }.join() }
        if isFirst { root.afterNextRead(replace) }
        let token = root.observe(\.next.number, options: .new) { log.append($1.newValue!) }
        if !isFirst {
            root.afterNextRead(replace)
            root.next = first
        }
        #expect(root.next === second && first.keyValueRegistrar.isEmpty)
        second.number = 7
        #expect(log.entries.last == 7)
        token.invalidate()
    }

    @Test func `a path follows the last of the objects that several threads set at the same time`() {
        for round in 0..<Stress.rounds(500, least: 150) {
            let (root, log, start) = (Hub(), Journal<Int>(), Gate(3))
            let hubs = (0..<6).map { _ in Hub() }
            let token = root.observe(\.next.next.number, options: [.old, .new]) { log.append($1.newValue!) }
            let threads = (0..<3).map { thread in
                TestThread {
                    start.meet()
                    hubs[thread].next = hubs[3 + thread]
                    root.next = hubs[thread]
                    hubs[(thread + round) % 3].next = hubs[5 - thread]
                }
            }
            for thread in threads { thread.join() }
            root.next.next.number = 7
            #expect(log.entries.last == 7)
            for hub in hubs where hub !== root.next && hub !== root.next.next {
                #expect(hub.keyValueRegistrar.isEmpty)
            }
            token.invalidate()
        }
    }

    /// The other thread's change is recorded between the read of the value for the path and the record of that value.
    @Test func `a value that is read for a path is not delivered after another thread's change`() {
        let (root, log) = (Hub(), Journal<Int>())
        let token = root.observe(\.sum, options: .new) { log.append($1.newValue!) }
        root.afterNextSum { TestThread { root.number = 100 }.join() }
        root.next.number = 1
        #expect(root.sum == 101 && log.entries.last == 101)
        token.invalidate()
    }
}

/// An object that refers to another one. Its properties have locks and are announced by hand.
private final class Hub: KeyValueObservable, @unchecked Sendable {
    // Sendable: each property has its own lock.
    let keyValueRegistrar = KeyValueRegistrar()
    private let stored = Guarded<Hub?>(nil)
    private let value = Guarded(0)
    private let afterRead = Guarded<(@Sendable () -> Void)?>(nil)
    private let afterSum = Guarded<(@Sendable () -> Void)?>(nil)

    func afterNextRead(_ body: @escaping @Sendable () -> Void) { afterRead.withLock { $0 = body } }
    func afterNextSum(_ body: @escaping @Sendable () -> Void) { afterSum.withLock { $0 = body } }

    var next: Hub {
        get {
            let next = stored.withLock { stored in
                let next = stored ?? Hub()
                stored = next
                return next
            }
            afterRead.withLock { $0.take() }?()
            return next
        }
        set {
            willChangeValue(forKey: "next")
            stored.withLock { $0 = newValue }
            didChangeValue(forKey: "next")
        }
    }

    var number: Int {
        get { value.withLock { $0 } }
        set {
            willChangeValue(forKey: "number")
            value.withLock { $0 = newValue }
            didChangeValue(forKey: "number")
        }
    }

    var sum: Int {
        let sum = number + next.number
        afterSum.withLock { $0.take() }?()
        return sum
    }

    static var keyValueKeys: [KeyValueKey] {
        [
            KeyValueKey("next", \Hub.next), KeyValueKey("number", \Hub.number),
            KeyValueKey("sum", \Hub.sum, affectedBy: ["number", "next.number"]),
        ]
    }
}
