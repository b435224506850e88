import KeyValueObserving
import TestSupport
import Testing

/// Paths through several objects.
struct NestedPathTests {
    @Test func `an observer of a nested key path is notified of changes of every property on the path`() {
        let (room, log) = (Room(), Journal<[Double]>())
        let token = room.observe(\.thermometer.celsius, options: [.old, .new]) {
            log.append([$1.oldValue!, $1.newValue!])
        }
        let old = room.thermometer
        old.celsius = 21
        let new = Thermometer()
        new.celsius = 5
        room.thermometer = new
        old.celsius = 99
        new.celsius = 6
        token.invalidate()
        new.celsius = 7
        #expect(log.entries == [[20, 21], [21, 5], [5, 6]])
    }

    @Test func `a path of names may contain objects that are missing`() {
        let (room, observer) = (Room(), Recorder())
        room.addObserver(observer, forKeyPath: "neighbour.neighbour.heated", options: [.old, .new], context: nil)
        let (next, last) = (Room(), Room())
        room.neighbour = next
        next.neighbour = last
        last.isHeated = true
        room.neighbour = nil
        last.isHeated = false
        room.removeObserver(observer, forKeyPath: "neighbour.neighbour.heated")
        #expect(observer.values.entries == ["nil nil", "nil false", "false true", "true nil"])
    }

    @Test func `a property may depend on a property of another object`() {
        let (kitchen, log) = (Kitchen(), Journal<[Bool]>())
        let token = kitchen.observe(\.isComfortable, options: [.old, .new]) {
            log.append([$1.oldValue!, $1.newValue!])
        }
        kitchen.thermometer.celsius = 10
        let cold = kitchen.thermometer
        kitchen.thermometer = Thermometer()
        cold.celsius = 11
        token.invalidate()
        #expect(log.entries == [[true, false], [false, true]])
    }

    @Test func `the old value is right if a property depends on a path and on a property`() {
        let (kitchen, log) = (Kitchen(), Journal<[Bool]>())
        let token = kitchen.observe(\.isComfortable, options: [.old, .new]) {
            log.append([$1.oldValue!, $1.newValue!])
        }
        kitchen.thermometer.celsius = 10
        kitchen.isHeated = true
        kitchen.thermometer.celsius = 11
        kitchen.isHeated = false
        kitchen.thermometer.celsius = 12
        token.invalidate()
        #expect(log.entries == [[true, false], [false, true], [true, true], [true, false], [false, false]])
    }

    @Test func `the call before a change of a nested path comes directly before the call after it`() {
        let (room, log) = (Room(), Journal<String>())
        let token = room.observe(\.thermometer.celsius, options: [.old, .new, .prior, .initial]) {
            log.append("\($1.isPrior) \($1.oldValue as Any) \($1.newValue as Any)")
        }
        room.thermometer.celsius = 1
        token.invalidate()
        #expect(
            log.entries == [
                "false nil Optional(20.0)", "true Optional(20.0) nil", "false Optional(20.0) Optional(1.0)",
            ])
    }

    @Test func `an observation keeps no object on its path alive`() {
        var room: Room? = Room()
        let (root, end) = (Weak(room), Weak(room!.thermometer))
        let token = room!.observe(\.thermometer.celsius) { _, _ in }
        room!.thermometer = Thermometer()
        #expect(end.isGone)
        room = nil
        #expect(root.isGone)
        token.invalidate()
    }
}

/// A recorder of the calls of an observer by name.
final class Recorder: KeyValueObserver, Sendable {
    let values = Journal<String>()
    let details = Journal<String>()

    func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) {
        let (old, new) = (change?[.oldKey], change?[.newKey])
        values.append("\(old.map { "\($0)" } ?? "nil") \(new.map { "\($0)" } ?? "nil")")
        details.append(
            "\(keyPath!) \(change![.kindKey] as! UInt) \(change![.notificationIsPriorKey] != nil) \(context == nil)")
    }
}
