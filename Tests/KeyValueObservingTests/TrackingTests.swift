import KeyValueObserving
import Observation
import TestSupport
import Testing

/// Rule K8 for a user's classes.
struct TrackingTests {
    final class Cellar: KeyValueObservable, Observable {
        let keyValueRegistrar = KeyValueRegistrar()
        @KeyValueObserved var bottles = 6
        @KeyValueObserved var thermometer = Thermometer()
        var isEmpty: Bool { bottles == 0 }

        static var keyValueKeys: [KeyValueKey] {
            [
                KeyValueKey("bottles", \Cellar.bottles), KeyValueKey("thermometer", \Cellar.thermometer),
                KeyValueKey("report", \Cellar.report, affectedBy: ["bottles", "thermometer.celsius"]),
            ]
        }

        var report: String {
            access(keyPath: \.report)
            return "\(bottles) at \(thermometer.celsius)"
        }
    }

    @Test func `a class becomes Observable by its conformance alone`() {
        let (cellar, told) = (Cellar(), Journal<String>())
        withObservationTracking {
            _ = cellar.isEmpty
        } onChange: {
            told.append("bottles")
        }
        cellar.thermometer = Thermometer()
        #expect(told.entries == [])
        cellar.bottles = 5
        cellar.bottles = 4
        #expect(told.entries == ["bottles"])
    }

    @Test func `a property that depends on properties of its own and other objects is tracked`() {
        let (cellar, told) = (Cellar(), Journal<String>())
        withObservationTracking {
            _ = cellar.report
        } onChange: {
            told.append("report")
        }
        cellar.thermometer.celsius = 12
        #expect(told.entries == ["report"])
    }

    @Test func `an observer of a previously tracked property receives its values`() {
        let (cellar, told) = (Cellar(), Journal<String>())
        withObservationTracking {
            _ = (cellar.bottles, cellar.report)
        } onChange: {
        }
        let tokens = [
            cellar.observe(\.bottles, options: [.old, .new]) {
                told.append("\($1.oldValue ?? -1) → \($1.newValue ?? -1)")
            },
            cellar.observe(\.report, options: [.old, .new]) {
                told.append("\($1.oldValue ?? "nothing") → \($1.newValue ?? "nothing")")
            },
        ]
        cellar.bottles = 5
        #expect(told.entries == ["6 → 5", "6 at 20.0 → 5 at 20.0"])
        withExtendedLifetime(tokens) {}
    }

    @Test func `tracking and key-value observing do not affect each other`() {
        let (cellar, told) = (Cellar(), Journal<String>())
        let token = cellar.observe(\.bottles, options: [.old, .new]) {
            told.append("\($1.oldValue!) → \($1.newValue!)")
        }
        withObservationTracking {
            _ = cellar.bottles
        } onChange: {
            told.append("tracked")
        }
        cellar.bottles = 5
        token.invalidate()
        withObservationTracking {
            _ = cellar.bottles
        } onChange: {
            told.append("tracked")
        }
        cellar.bottles = 4
        #expect(told.entries == ["6 → 5", "tracked", "tracked"])
    }

    @Test func `an unregistered property is tracked`() {
        final class Silent: KeyValueObservable, Observable {
            let keyValueRegistrar = KeyValueRegistrar()
            @KeyValueObserved var a = 0
            @KeyValueObserved var b = 0
        }
        let (silent, told) = (Silent(), Journal<String>())
        withObservationTracking {
            _ = silent.a
        } onChange: {
            told.append("a")
        }
        silent.b = 1
        #expect(told.entries == [])
        silent.a = 1
        #expect(told.entries == ["a"])
    }
}
