import KeyValueObserving

/// The class of the documentation, with all the ways to announce properties.
final class Thermometer: KeyValueObservable {
    let keyValueRegistrar = KeyValueRegistrar()
    @KeyValueObserved var celsius = 20.0
    /// Not registered.
    @KeyValueObserved var place = "here"
    private(set) var readings: [Double] = []

    var fahrenheit: Double {
        get { celsius * 9 / 5 + 32 }
        set { celsius = (newValue - 32) * 5 / 9 }
    }

    var summary: String { "\(fahrenheit) °F" }

    /// Changes the value without an announcement.
    func setSilently(_ celsius: Double) { _celsius = KeyValueObserved(wrappedValue: celsius) }

    func record(_ reading: Double) {
        let places = RangeSet(readings.count..<readings.count + 1)
        willChange(.insertion, valuesAt: places, for: \.readings)
        readings.append(reading)
        didChange(.insertion, valuesAt: places, for: \.readings)
    }

    static var keyValueKeys: [KeyValueKey] {
        [
            KeyValueKey("celsius", aliases: ["centigrade"], \Thermometer.celsius),
            KeyValueKey("fahrenheit", \Thermometer.fahrenheit, affectedBy: ["celsius"]),
            KeyValueKey("summary", \Thermometer.summary),
            KeyValueKey("readings", \Thermometer.readings),
        ]
    }

    static func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
        key == "summary" ? ["fahrenheit"] : []
    }
}

/// A class that is not final, with a subclass and a final subclass.
class Room: KeyValueObservable {
    let keyValueRegistrar = KeyValueRegistrar()
    @KeyValueObserved var thermometer = Thermometer()
    @KeyValueObserved var neighbour: Room?
    @KeyValueObserved var isHeated = false
    var isComfortable: Bool { isHeated }

    init() {}
}

extension KeyValueObservable where Self: Room {
    static var keyValueKeys: [KeyValueKey] {
        [
            KeyValueKey("thermometer", \Self.thermometer),
            KeyValueKey("neighbour", \Self.neighbour),
            KeyValueKey("isHeated", aliases: ["heated"], \Self.isHeated),
            KeyValueKey("isComfortable", \Self.isComfortable, affectedBy: ["isHeated", "thermometer.celsius"]),
        ]
    }
}

class Kitchen: Room {
    override var isComfortable: Bool { isHeated || thermometer.celsius > 18 }
}

final class Attic: Room {
    override var isComfortable: Bool { isHeated && thermometer.celsius > 18 }
}
