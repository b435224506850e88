import KeyValueObserving
import TestSupport
import Testing

/// Rules K2, K4, K6 for a user's classes.
struct ObserveTests {
    @Test func `a handler receives the values before and after each change, in order`() {
        let (thermometer, log) = (Thermometer(), Journal<[Double]>())
        let token = thermometer.observe(\.celsius, options: [.old, .new]) { _, change in
            log.append([change.oldValue!, change.newValue!])
        }
        for celsius in [21.0, 22.0, 22.0] { thermometer.celsius = celsius }
        token.invalidate()
        thermometer.celsius = 30
        #expect(log.entries == [[20, 21], [21, 22], [22, 22]])
    }

    @Test func `values that were not requested are nil`() {
        let (thermometer, log) = (Thermometer(), Journal<Bool>())
        let token = thermometer.observe(\.celsius) { _, change in
            log.append(change.oldValue == nil && change.newValue == nil && change.kind == .setting && !change.isPrior)
        }
        thermometer.celsius = 1
        token.invalidate()
        #expect(log.entries == [true])
    }

    @Test func `the first call comes before observe returns and has the present value`() {
        let (thermometer, log) = (Thermometer(), Journal<Double?>())
        let token = thermometer.observe(\.celsius, options: [.initial, .new]) { log.append($1.newValue) }
        #expect(log.entries == [20])
        thermometer.celsius = 21
        #expect(log.entries == [20, 21])
        token.invalidate()
        let silent = thermometer.observe(\.celsius, options: [.initial]) { log.append($1.newValue) }
        #expect(log.entries == [20, 21, nil])
        silent.invalidate()
    }

    @Test func `a prior call comes before the change and has the old value only`() {
        let (thermometer, log) = (Thermometer(), Journal<[Double?]>())
        let token = thermometer.observe(\.celsius, options: [.prior, .old, .new]) { thermometer, change in
            log.append([change.isPrior ? 1 : 0, thermometer.celsius, change.oldValue, change.newValue])
        }
        thermometer.celsius = 21
        token.invalidate()
        #expect(log.entries == [[1, 20, 20, nil], [0, 21, 20, 21]])
    }

    @Test func `an observation ends when its token is released`() {
        let (thermometer, log) = (Thermometer(), Journal<Double>())
        var token: NSKeyValueObservation? = thermometer.observe(\.celsius, options: .new) { log.append($1.newValue!) }
        thermometer.celsius = 1
        withExtendedLifetime(token) {}
        token = nil
        thermometer.celsius = 2
        #expect(log.entries == [1])
    }

    @Test func `the object and the handler do not keep each other alive`() {
        var thermometer: Thermometer? = Thermometer()
        let weakThermometer = Weak(thermometer)
        var witness: Journal<Int>? = Journal()
        let weakWitness = Weak(witness)
        let token = thermometer!.observe(\.celsius) { [witness] _, _ in witness?.append(1) }
        thermometer = nil
        #expect(weakThermometer.isGone)
        witness = nil
        token.invalidate()
        #expect(weakWitness.isGone)
    }

    @Test func `an observer of a dependent property receives its values`() {
        let (thermometer, log) = (Thermometer(), Journal<String>())
        let tokens = [
            thermometer.observe(\.fahrenheit, options: [.old, .new, .prior]) {
                log.append("\($1.oldValue!) \($1.newValue.map { "\($0)" } ?? "prior")")
            },
            thermometer.observe(\.summary, options: [.old, .new]) { log.append("\($1.oldValue!) → \($1.newValue!)") },
        ]
        thermometer.celsius = 100
        #expect(log.entries == ["68.0 prior", "68.0 212.0", "68.0 °F → 212.0 °F"])
        for token in tokens { token.invalidate() }
    }

    @Test func `an unregistered property is observed by its key path`() {
        let (thermometer, log) = (Thermometer(), Journal<String>())
        let token = thermometer.observe(\.place, options: [.old, .new]) { log.append($1.oldValue! + $1.newValue!) }
        thermometer.place = "there"
        thermometer.celsius = 3
        token.invalidate()
        #expect(log.entries == ["herethere"])
    }

    @Test func `changes of an ordered collection have their kind and positions`() {
        let (thermometer, log) = (Thermometer(), Journal<NSKeyValueObservedChange<[Double]>>())
        let token = thermometer.observe(\.readings, options: [.new]) { log.append($1) }
        thermometer.record(1)
        thermometer.record(2)
        token.invalidate()
        #expect(log.entries.map(\.kind) == [.insertion, .insertion])
        #expect(log.entries.map(\.indexSet) == [RangeSet(0..<1), RangeSet(1..<2)])
        #expect(log.entries.last?.newValue == [2])
    }

    @Test func `a handler may remove itself`() {
        let (thermometer, log, token) = (Thermometer(), Journal<Double>(), Guarded<NSKeyValueObservation?>(nil))
        let made = thermometer.observe(\.celsius, options: .new) { _, change in
            log.append(change.newValue!)
            token.withLock { $0.take() }?.invalidate()
        }
        token.withLock { $0 = made }
        thermometer.celsius = 1
        thermometer.celsius = 2
        #expect(log.entries == [1])
    }

    @Test func `an observer that another handler removes first is not notified`() {
        let (thermometer, log, second) = (Thermometer(), Journal<String>(), Guarded<NSKeyValueObservation?>(nil))
        let first = thermometer.observe(\.celsius) { _, _ in
            log.append("first")
            second.withLock { $0 }?.invalidate()
        }
        let made = thermometer.observe(\.celsius) { _, _ in log.append("second") }
        second.withLock { $0 = made }
        thermometer.celsius = 1
        #expect(log.entries == ["first"])
        first.invalidate()
    }

    @Test func `an observer that is added in a handler is notified of later changes only`() {
        let (thermometer, log, tokens) = (Thermometer(), Journal<Double>(), Guarded<[NSKeyValueObservation]>([]))
        let first = thermometer.observe(\.celsius) { thermometer, _ in
            let inner = thermometer.observe(\.celsius, options: .new) { log.append($1.newValue!) }
            tokens.withLock { $0.append(inner) }
        }
        thermometer.celsius = 1
        #expect(log.entries == [])
        first.invalidate()
        thermometer.celsius = 2
        #expect(log.entries == [2])
        tokens.withLock { $0 = [] }
    }

    @Test func `a change inside a handler is delivered to all observers after the current change`() {
        let (thermometer, log) = (Thermometer(), Journal<String>())
        let tokens = ["a", "b"].map { name in
            thermometer.observe(\.celsius, options: [.old, .new]) { thermometer, change in
                log.append("\(name) \(Int(change.oldValue!))→\(Int(change.newValue!))")
                if name == "a", change.newValue! < 3 { thermometer.celsius += 1 }
            }
        }
        thermometer.celsius = 1
        #expect(log.entries == ["a 20→1", "b 20→1", "a 1→2", "b 1→2", "a 2→3", "b 2→3"])
        for token in tokens { token.invalidate() }
    }

    @Test func `announcements may be nested`() {
        let (thermometer, log) = (Thermometer(), Journal<[Double]>())
        let token = thermometer.observe(\.celsius, options: [.old, .new]) {
            log.append([$1.oldValue!, $1.newValue!])
        }
        thermometer.willChangeValue(for: \.celsius)
        thermometer.celsius = 1
        thermometer.celsius = 2
        thermometer.didChangeValue(for: \.celsius)
        token.invalidate()
        #expect(log.entries == [[20, 1], [1, 2], [20, 2]])
    }

    @Test func `a change without a first announcement is delivered without the old value`() {
        let (thermometer, log) = (Thermometer(), Journal<Bool>())
        let token = thermometer.observe(\.celsius, options: [.old, .new]) {
            log.append($1.oldValue == nil && $1.newValue == 20)
        }
        thermometer.didChangeValue(forKey: "centigrade")
        token.invalidate()
        #expect(log.entries == [true])
    }
}
