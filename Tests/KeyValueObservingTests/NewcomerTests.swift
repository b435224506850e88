import KeyValueObserving
import TestSupport
import Testing

/// Rule K6: an observer is notified of the changes that are made after it began to observe.
struct NewcomerTests {
    @Test func `a new observer is not notified of a change that was made before it began to observe`() {
        let thermometer = Thermometer()
        let log = Journal<Double?>()
        let newcomer = Guarded<NSKeyValueObservation?>(nil)
        let first = thermometer.observe(\.celsius) { thermometer, _ in
            guard thermometer.celsius == 21 else { return }
            thermometer.celsius = 22
            let token = thermometer.observe(\.celsius, options: .new) { log.append($1.newValue) }
            newcomer.withLock { $0 = token }
        }
        thermometer.celsius = 21
        #expect(log.entries.isEmpty)
        thermometer.celsius = 23
        #expect(log.entries == [23])
        newcomer.withLock { $0 }?.invalidate()
        first.invalidate()
    }

    private class Box: KeyValueObservable {
        let keyValueRegistrar = KeyValueRegistrar()
        @KeyValueObserved var width = 1
        @KeyValueObserved var depth = 1
        var area: Int { width * depth }

        class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
            key == "area" ? ["width"] : []
        }

        static var keyValueKeys: [KeyValueKey] {
            [
                KeyValueKey("width", \Box.width), KeyValueKey("depth", \Box.depth), KeyValueKey("area", \Box.area),
            ]
        }
    }

    private final class DeepBox: Box {
        override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
            key == "area" ? ["width", "depth"] : []
        }
    }

    @Test func `a key path has the dependent keys of each class, not of the class that used it first`() {
        let path = \Box.area
        let boxes = [Box(), DeepBox()]
        let log = Journal<Int>()
        let tokens = boxes.map { $0.observe(path) { box, _ in log.append(box.area) } }
        for (index, box) in boxes.enumerated() { box.depth = 10 + index }
        #expect(log.entries == [11])
        for token in tokens { token.invalidate() }
    }
}
