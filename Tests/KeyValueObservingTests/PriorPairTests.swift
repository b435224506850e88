import KeyValueObserving
import TestSupport
import Testing

/// Rules K2, K6: the calls before and after a change come in pairs and alternate.
@Suite(.timeLimit(.minutes(5))) struct PriorPairTests {
    @Test func `changes inside an announced change have a call before each`() {
        let (thermometer, log) = (Thermometer(), Journal<String>())
        let token = thermometer.observe(\.celsius, options: [.prior, .old, .new]) {
            log.append("\($1.isPrior ? "will" : "did") \($1.oldValue!)")
        }
        thermometer.willChangeValue(for: \.celsius)
        thermometer.celsius = 1
        thermometer.celsius = 2
        thermometer.didChangeValue(for: \.celsius)
        #expect(log.entries == ["will 20.0", "did 20.0", "will 1.0", "did 1.0", "will 20.0", "did 20.0"])
        token.invalidate()
    }

    @Test func `an override that depends on a path has a call before each change`() {
        let (attic, log) = (Attic(), Journal<String>())
        attic.isHeated = true
        attic.thermometer.celsius = 10
        let token = attic.observe(\.isComfortable, options: [.prior, .new]) {
            log.append($1.isPrior ? "will" : "did \($1.newValue!)")
        }
        attic.thermometer.celsius = 20
        attic.thermometer.celsius = 30
        attic.isHeated = false
        #expect(log.entries == ["will", "did true", "will", "did true", "will", "did false"])
        token.invalidate()
    }

    @Test(.tags(.threads)) func `four threads change one property, and each change has a prior call`() {
        let meter = Meter()
        let calls = Journal<Bool>()
        let token = meter.observe(\.value, options: .prior) { calls.append($1.isPrior) }
        let threads = (0..<4).map { _ in
            TestThread { for _ in 0..<500 { meter.value += 1 } }
        }
        for thread in threads { thread.join() }
        #expect(calls.entries.count == 4000)
        #expect(calls.entries.enumerated().allSatisfy { $0.element == ($0.offset % 2 == 0) })
        token.invalidate()
    }

    @Test func `a handler that changes the property in its prior call receives alternating calls`() {
        let (meter, calls) = (Meter(), Journal<Bool>())
        let token = meter.observe(\.value, options: .prior) { meter, change in
            calls.append(change.isPrior)
            if meter.value < 3 { meter.value += 1 }
        }
        meter.value = 1
        #expect(calls.entries.count >= 4 && calls.entries.count % 2 == 0)
        #expect(calls.entries.enumerated().allSatisfy { $0.element == ($0.offset % 2 == 0) })
        token.invalidate()
    }

    /// One recorded change for each observer would take an hour.
    @Test func `the time for the prior calls of a change does not grow with the square of the observers`() {
        let (thermometer, count) = (Thermometer(), Stress.rounds(64_000, least: 10_000))
        let (priors, others) = (Guarded(0), Guarded(0))
        let tokens = (0..<count).map { _ in
            thermometer.observe(\.celsius, options: .prior) { _, change in
                (change.isPrior ? priors : others).withLock { $0 += 1 }
            }
        }
        func expect(_ changes: Int) {
            #expect(priors.withLock { $0 } == changes * count && others.withLock { $0 } == changes * count)
        }
        thermometer.didChangeValue(for: \.celsius)
        expect(1)
        thermometer.willChangeValue(for: \.celsius)
        thermometer.celsius = 1
        thermometer.didChangeValue(for: \.celsius)
        expect(3)
        let registrar = thermometer.keyValueRegistrar
        let key = Thermometer.propertyKey(named: "celsius")
        registrar.didNotChange(registrar.willChange([key], of: thermometer), of: thermometer)
        expect(4)
        for token in tokens { token.invalidate() }
        withExtendedLifetime(thermometer) {}
    }

    @Test func `an observer that its prior call removes is not called after the change`() {
        let (thermometer, log) = (Thermometer(), Journal<String>())
        let second = Guarded<NSKeyValueObservation?>(nil)
        let first = thermometer.observe(\.celsius, options: .prior) {
            log.append($1.isPrior ? "first will" : "first did")
            second.withLock { $0.take() }?.invalidate()
        }
        second.withLock { $0 = thermometer.observe(\.celsius, options: .prior) { _, _ in log.append("second") } }
        thermometer.didChangeValue(for: \.celsius)
        #expect(log.entries == ["first will", "first did"])
        first.invalidate()
        withExtendedLifetime(thermometer) {}
    }
}

/// A number behind a lock, which is announced by hand.
final class Meter: KeyValueObservable, @unchecked Sendable {
    // Sendable: the number is behind a lock.
    let keyValueRegistrar = KeyValueRegistrar()
    private let number = Guarded(0)
    var value: Int {
        get { number.withLock { $0 } }
        set {
            willChangeValue(for: \.value)
            number.withLock { $0 = newValue }
            didChangeValue(for: \.value)
        }
    }
}
