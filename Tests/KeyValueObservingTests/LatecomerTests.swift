import KeyValueObserving
import TestSupport
import Testing

/// Rule K6 for an observer that is added between the announcement and the change, for instance by another thread. Its first
/// read may return the value from before the change, so it is notified of the change like all others.
struct LatecomerTests {
    /// The observer that exists before the announcement.
    enum Earlier: CaseIterable {
        case nobody, withoutValues, withValues, withPrior, another

        func observe(_ thermometer: Thermometer) -> NSKeyValueObservation? {
            switch self {
            case .nobody: nil
            case .withoutValues: thermometer.observe(\.celsius) { _, _ in }
            case .withValues: thermometer.observe(\.celsius, options: [.old, .new]) { _, _ in }
            case .withPrior: thermometer.observe(\.celsius, options: .prior) { _, _ in }
            case .another: thermometer.observe(\.place, options: [.old, .new]) { _, _ in }
            }
        }
    }

    private let thermometer = Thermometer()
    private let log = Journal<Double?>()

    /// Changes the temperature, with separate calls for the announcement and the change.
    private func warm(to celsius: Double, meanwhile: () -> Void) {
        let observers = thermometer.keyValueRegistrar
        let announcement = observers.willChange([.name("celsius")], of: thermometer)
        meanwhile()
        thermometer.setSilently(celsius)
        observers.didChange(announcement, of: thermometer)
    }

    @Test(arguments: Earlier.allCases) func `the new observer is notified of the change with the new value`(
        earlier: Earlier
    ) {
        let token = earlier.observe(thermometer)
        var late: NSKeyValueObservation?
        warm(to: 30) {
            late = thermometer.observe(\.celsius, options: [.initial, .new]) { [log] in log.append($1.newValue) }
            #expect(log.entries == [20])
        }
        #expect(log.entries == [20, 30])
        thermometer.celsius = 31
        #expect(log.entries == [20, 30, 31])
        late?.invalidate()
        token?.invalidate()
    }

    @Test(arguments: Earlier.allCases) func `the new observer is notified of indirect changes`(earlier: Earlier) {
        let token = earlier.observe(thermometer)
        var late: NSKeyValueObservation?
        warm(to: 100) {
            late = thermometer.observe(\.fahrenheit, options: [.initial, .new]) { [log] in log.append($1.newValue) }
        }
        #expect(log.entries == [68, 212])
        late?.invalidate()
        token?.invalidate()
    }

    @Test(arguments: Earlier.allCases) func `the call before the change comes directly before the call after it`(
        earlier: Earlier
    ) {
        let token = earlier.observe(thermometer)
        let calls = Journal<Bool>()
        var late: NSKeyValueObservation?
        warm(to: 30) {
            late = thermometer.observe(\.celsius, options: .prior) { calls.append($1.isPrior) }
            #expect(calls.entries == [])
        }
        #expect(calls.entries == [true, false])
        thermometer.celsius = 31
        #expect(calls.entries == [true, false, true, false])
        late?.invalidate()
        token?.invalidate()
    }

    @Test(arguments: Earlier.allCases)
    func `an observer that is added during the notification is not notified of the change`(
        earlier: Earlier
    ) {
        let token = earlier.observe(thermometer)
        let tokens = Guarded<[NSKeyValueObservation]>([])
        let notifying = thermometer.observe(\.celsius, options: .new) { [log] thermometer, _ in
            let inner = thermometer.observe(\.celsius, options: .new) { log.append($1.newValue) }
            tokens.withLock { $0.append(inner) }
        }
        warm(to: 30) {}
        #expect(log.entries == [])
        notifying.invalidate()
        tokens.withLock { $0 = [] }
        token?.invalidate()
    }

    @Test func `the removal of an observer during the change does not disturb later prior calls`() {
        let calls = Journal<Bool>()
        var early: NSKeyValueObservation? = thermometer.observe(\.celsius, options: .prior) { _, _ in }
        warm(to: 30) {
            early?.invalidate()
            early = nil
        }
        let token = thermometer.observe(\.celsius, options: .prior) { calls.append($1.isPrior) }
        thermometer.celsius = 31
        #expect(calls.entries == [true, false])
        token.invalidate()
    }
}
