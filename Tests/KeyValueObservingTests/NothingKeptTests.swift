import KeyValueObserving
import Observation
import TestSupport
import Testing

/// Rule A10: nothing is kept for deallocated observers.
@Suite(.timeLimit(.minutes(5)), .tags(.release)) struct NothingKeptTests {
    @Test func `very many observations that were invalidated or released leave nothing behind`() {
        let (meter, lives) = (Meter(), Lives())
        for round in 0..<Stress.rounds(100_000, least: 20_000) {
            let life = lives.new()
            let token = meter.observe(\.value) { _, _ in withExtendedLifetime(life) {} }
            if round % 2 == 0 { token.invalidate() }
        }
        #expect(lives.count == 0 && meter.keyValueRegistrar.isEmpty)
    }

    @Test func `observations of deallocated named observers are released without a change`() {
        let thermometer = Thermometer()
        for _ in 0..<10_000 {
            thermometer.addObserver(Named(), forKeyPath: "celsius", context: nil)
        }
        #expect(thermometer.keyValueRegistrar.observationCount <= 128)
    }

    @Test(.tags(.slow), arguments: [false, true]) func `very many named observers are removed in either order`(
        lastFirst: Bool
    ) {
        let thermometer = Thermometer()
        let observers = (0..<Stress.rounds(100_000, least: 5_000)).map { _ in Named() }
        for observer in observers { thermometer.addObserver(observer, forKeyPath: "celsius", context: nil) }
        for number in observers.indices {
            let observer = observers[lastFirst ? observers.count - 1 - number : number]
            thermometer.removeObserver(observer, forKeyPath: "celsius")
        }
        #expect(thermometer.keyValueRegistrar.isEmpty)
    }

    /// The value keeps the observation of the property that has the value.
    @Test func `no value of a property is kept after the object`() {
        func isGone<Object: Holder>(_ make: () -> Object, _ path: KeyPath<Object, Item?>) -> Bool {
            let item = Weak(
                {
                    let (object, item) = (make(), Item())
                    item.token = object.observe(path, options: .new) { _, _ in }
                    object.item = item
                    return item
                }())
            return item.isGone
        }
        #expect(isGone(Holder.init, \.item))
        // Here the observation compares values.
        #expect(isGone(Keeper.init, \.item))
    }

    @Test func `20,000 abandoned streams of values leave nothing behind`() async {
        let meter = Meter()
        for _ in 0..<20_000 {
            var values = meter.values(for: \.value).makeAsyncIterator()
            #expect(await values.next() == 0)
        }
        #expect(meter.keyValueRegistrar.isEmpty)
    }

    @Test func `tracking an object that is not observable keeps nothing`() {
        let (plain, lives) = (Thermometer(), Lives())
        for _ in 0..<10_000 {
            let life = lives.new()
            withObservationTracking {
                _ = plain.celsius
            } onChange: {
                withExtendedLifetime(life) {}
            }
        }
        #expect(lives.count == 0)
    }

    @Test func `an announcement of a deallocated object does not affect a new object at its address`() {
        var seen: Set<Double?> = []
        for round in 0..<1000 {
            let old = Thermometer()
            old.celsius = -1
            let token = old.observe(\.celsius, options: .old) { _, _ in }
            if round % 2 == 0 { old.willChangeValue(for: \.celsius) }
            token.invalidate()
        }
        for _ in 0..<1000 {
            let new = Thermometer()
            let log = Journal<Double?>()
            let token = new.observe(\.celsius, options: .old) { log.append($1.oldValue) }
            new.didChangeValue(for: \.celsius)
            seen.formUnion(log.entries)
            token.invalidate()
        }
        #expect(!seen.contains(-1))
    }
}

private final class Named: KeyValueObserver {
    func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) {}
}

private final class Item {
    var token: NSKeyValueObservation?
}

private class Holder: KeyValueObservable {
    let keyValueRegistrar = KeyValueRegistrar()
    @KeyValueObserved var item: Item?
}

private final class Keeper: Holder {}

/// A counter of live objects.
private final class Lives: Sendable {
    private let alive = Guarded(0)
    var count: Int { alive.withLock { $0 } }

    func new() -> Life {
        alive.withLock { $0 += 1 }
        return Life(self)
    }

    final class Life: Sendable {
        private let lives: Lives
        init(_ lives: Lives) { self.lives = lives }
        deinit { lives.alive.withLock { $0 -= 1 } }
    }
}
