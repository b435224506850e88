import KeyValueObserving
import Observation
import TestSupport
import Testing

/// Rule K6 with several threads or several observers: the last delivered value is the current value, and an observer that
/// requests values receives them.
@Suite(.timeLimit(.minutes(5)), .tags(.threads, .release)) struct InterleavingTests {
    // MARK: - Values

    @Test func `observing a nested path leaves the values of other observers unchanged`() {
        let (room, log) = (Room(), Journal<[Double?]>())
        let path = room.observe(\.thermometer.celsius, options: .new) { _, _ in }
        let token = room.thermometer.observe(\.celsius, options: [.old, .new]) {
            log.append([$1.oldValue, $1.newValue])
        }
        room.thermometer.celsius = 30
        #expect(log.entries == [[20, 30]])
        path.invalidate()
        token.invalidate()
    }

    @Test func `tracking by the Observation framework leaves the values of observers unchanged`() {
        final class Box: KeyValueObservable, Observable {
            let keyValueRegistrar = KeyValueRegistrar()
            /// Not registered.
            @KeyValueObserved var size = 1
        }
        let (box, log) = (Box(), Journal<[Int?]>())
        withObservationTracking {
            _ = box.size
        } onChange: {
        }
        let token = box.observe(\.size, options: [.initial, .old, .new]) { log.append([$1.oldValue, $1.newValue]) }
        box.size = 2
        #expect(log.entries == [[nil, 1], [1, 2]])
        token.invalidate()
    }

    /// The property is affected by a property of another type.
    @Test func `an observer of a dependent override in a final class is notified`() {
        let (dial, log) = (FinalDial(), Journal<Bool>())
        let token = dial.observe(\.isHigh, options: [.initial, .new]) { log.append($1.newValue!) }
        dial.value = 20
        dial.value = 21
        dial.value = 1
        #expect(log.entries == [false, true, true, false])
        token.invalidate()
    }

    // MARK: - Orders

    @Test func `a value from before another thread's change is not delivered after that change`() {
        let (dial, log) = (Dial(), Journal<Int>())
        let token = dial.observe(\.value, options: [.initial, .new]) { log.append($1.newValue!) }
        dial.afterNextRead { TestThread { dial.value = 2 }.join() }
        dial.value = 1
        #expect(dial.value == 2 && log.entries.last == 2)
        token.invalidate()
    }

    @Test func `no prior call comes before the end of the first call`() {
        let (dial, log) = (Dial(), Journal<String>())
        let early = dial.observe(\.value, options: .new) { _, _ in }
        // The value is read for the first call, during the registration.
        dial.beforeNextRead { TestThread { dial.value = 1 }.join() }
        let token = dial.observe(\.value, options: [.initial, .prior, .new]) {
            log.append($1.isPrior ? "prior" : "\($1.newValue!)")
        }
        #expect(log.entries == ["1", "prior", "1"])
        early.invalidate()
        token.invalidate()
    }

    /// A key path of a final class identifies only the override, whose changes are not announced.
    @Test func `the change of an override is detected from the value of the first call`() {
        let (dial, log) = (FinalDial(), Journal<Bool>())
        dial.afterNextRead { TestThread { dial.setOn(true) }.join() }
        let token = dial.observe(\.isOn, options: [.initial, .new]) { log.append($1.newValue!) }
        dial.setOn(false)
        #expect(log.entries.last == false)
        token.invalidate()
    }

    // MARK: - Lifetimes

    @Test func `a path may be released while another thread follows it`() {
        for _ in 0..<Stress.rounds(1000, least: 300) {
            let (room, meeting) = (Guarded(Room()), Gate(2))
            let other = TestThread {
                let room = room.withLock { $0 }
                meeting.meet()
                for round in 0..<20 { room.thermometer.celsius = Double(round) }
            }
            let token = room.withLock { $0 }.observe(\.thermometer.celsius, options: .new) { _, _ in }
            meeting.meet()
            _ = consume token
            other.join()
        }
    }

    /// A lock held during the deallocation would be locked twice.
    @Test func `an observer's deinit may use the observers during the removal of another observer`() {
        final class Looker: KeyValueObserver {
            let dial: Dial
            init(_ dial: Dial) { self.dial = dial }
            deinit { _ = dial.keyValueRegistrar.isEmpty }

            func observeValue(
                forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
                context: UnsafeMutableRawPointer?
            ) {}
        }
        let (dial, isOver) = (Dial(), Guarded(false))
        let other = TestThread {
            let stranger = Looker(dial)
            while !isOver.withLock({ $0 }) { try? dial.tryRemoveObserver(stranger, forKeyPath: "value") }
        }
        for round in 0..<Stress.rounds(20_000, least: 3_000) {
            let looker = Looker(dial)
            dial.addObserver(looker, forKeyPath: "value", context: nil)
            _ = consume looker
            dial.value = round
        }
        isOver.withLock { $0 = true }
        other.join()
    }

    @Test func `an observer may remove itself in its deinit`() {
        final class Leaver: KeyValueObserver {
            let (dial, errors): (Dial, Journal<String>)

            init(_ dial: Dial, _ errors: Journal<String>) {
                (self.dial, self.errors) = (dial, errors)
                dial.addObserver(self, forKeyPath: "value", context: nil)
            }

            deinit {
                do throws(KeyValueError) { try dial.tryRemoveObserver(self, forKeyPath: "value") } catch {
                    errors.append("\(error)")
                }
            }

            func observeValue(
                forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
                context: UnsafeMutableRawPointer?
            ) {}
        }
        let (dial, errors) = (Dial(), Journal<String>())
        do { _ = Leaver(dial, errors) }
        #expect(errors.entries == [] && dial.keyValueRegistrar.isEmpty)
    }
}

/// Values behind locks that are announced by hand, with hooks before and after a read.
private class Dial: KeyValueObservable, @unchecked Sendable {
    // Sendable: each property has its own lock.
    let keyValueRegistrar = KeyValueRegistrar()
    private let number = Guarded(0)
    private let state = Guarded(false)
    private let before = Guarded<(@Sendable () -> Void)?>(nil)
    private let after = Guarded<(@Sendable () -> Void)?>(nil)

    init() {}

    final func beforeNextRead(_ body: @escaping @Sendable () -> Void) { before.withLock { $0 = body } }
    final func afterNextRead(_ body: @escaping @Sendable () -> Void) { after.withLock { $0 = body } }

    private func read<Value>(_ stored: Guarded<Value>) -> Value {
        before.withLock { $0.take() }?()
        let value = stored.withLock { $0 }
        after.withLock { $0.take() }?()
        return value
    }

    final var value: Int {
        get { read(number) }
        set {
            willChangeValue(forKey: "value")
            number.withLock { $0 = newValue }
            didChangeValue(forKey: "value")
        }
    }

    var isOn: Bool { read(state) }
    var isHigh: Bool { read(number) > 10 }

    final func setOn(_ isOn: Bool) {
        willChangeValue(forKey: "isOn")
        state.withLock { $0 = isOn }
        didChangeValue(forKey: "isOn")
    }
}

extension KeyValueObservable where Self: Dial {
    fileprivate static var keyValueKeys: [KeyValueKey] {
        [
            KeyValueKey("value", \Self.value), KeyValueKey("isOn", \Self.isOn),
            KeyValueKey("isHigh", \Self.isHigh, affectedBy: ["value"]),
        ]
    }
}

private final class FinalDial: Dial, @unchecked Sendable {
    // Sendable: the class has no properties.
    override var isOn: Bool { super.isOn }
    override var isHigh: Bool { super.isHigh }
}
