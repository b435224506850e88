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
        let (cellar, notified) = (Cellar(), Journal<String>())
        withObservationTracking {
            _ = cellar.isEmpty
        } onChange: {
            notified.append("bottles")
        }
        cellar.thermometer = Thermometer()
        #expect(notified.entries == [])
        cellar.bottles = 5
        cellar.bottles = 4
        #expect(notified.entries == ["bottles"])
    }

    @Test func `a property that depends on properties of its own and other objects is tracked`() {
        let (cellar, notified) = (Cellar(), Journal<String>())
        withObservationTracking {
            _ = cellar.report
        } onChange: {
            notified.append("report")
        }
        cellar.thermometer.celsius = 12
        #expect(notified.entries == ["report"])
    }

    @Test func `an observer of a previously tracked property receives its values`() {
        let (cellar, notified) = (Cellar(), Journal<String>())
        withObservationTracking {
            _ = (cellar.bottles, cellar.report)
        } onChange: {
        }
        let tokens = [
            cellar.observe(\.bottles, options: [.old, .new]) {
                notified.append("\($1.oldValue ?? -1) → \($1.newValue ?? -1)")
            },
            cellar.observe(\.report, options: [.old, .new]) {
                notified.append("\($1.oldValue ?? "nothing") → \($1.newValue ?? "nothing")")
            },
        ]
        cellar.bottles = 5
        #expect(notified.entries == ["6 → 5", "6 at 20.0 → 5 at 20.0"])
        withExtendedLifetime(tokens) {}
    }

    @Test func `tracking and key-value observing do not affect each other`() {
        let (cellar, notified) = (Cellar(), Journal<String>())
        let token = cellar.observe(\.bottles, options: [.old, .new]) {
            notified.append("\($1.oldValue!) → \($1.newValue!)")
        }
        withObservationTracking {
            _ = cellar.bottles
        } onChange: {
            notified.append("tracked")
        }
        cellar.bottles = 5
        token.invalidate()
        withObservationTracking {
            _ = cellar.bottles
        } onChange: {
            notified.append("tracked")
        }
        cellar.bottles = 4
        #expect(notified.entries == ["6 → 5", "tracked", "tracked"])
    }

    @Test func `an unregistered property is tracked`() {
        final class Silent: KeyValueObservable, Observable {
            let keyValueRegistrar = KeyValueRegistrar()
            @KeyValueObserved var a = 0
            @KeyValueObserved var b = 0
        }
        let (silent, notified) = (Silent(), Journal<String>())
        withObservationTracking {
            _ = silent.a
        } onChange: {
            notified.append("a")
        }
        silent.b = 1
        #expect(notified.entries == [])
        silent.a = 1
        #expect(notified.entries == ["a"])
    }
}
