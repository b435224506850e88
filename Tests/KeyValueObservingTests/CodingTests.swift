import KeyValueObserving
import TestSupport
import Testing

/// Rule K5.
struct CodingTests {
    @Test func `stored and computed values are read and set by name, and the change is announced`() {
        let (thermometer, log) = (Thermometer(), Journal<Double>())
        let token = thermometer.observe(\.celsius, options: .new) { log.append($1.newValue!) }
        thermometer.setValue(212.0, forKey: "fahrenheit")
        #expect(thermometer.value(forKey: "celsius") as? Double == 100)
        thermometer.setValue(7.0, forKey: "centigrade")
        #expect(log.entries == [100, 7])
        token.invalidate()
    }

    @Test func `a value at the end of a path of names is read and set`() {
        let (room, next) = (Room(), Room())
        #expect(room.value(forKeyPath: "neighbour.thermometer.celsius") == nil)
        room.setValue(1.0, forKeyPath: "neighbour.thermometer.celsius")
        room.setValue(next, forKey: "neighbour")
        room.setValue(1.0, forKeyPath: "neighbour.thermometer.celsius")
        #expect(next.thermometer.celsius == 1)
        #expect(room.value(forKeyPath: "neighbour.thermometer.celsius") as? Double == 1)
        room.setValue(nil, forKey: "neighbour")
        #expect(room.neighbour == nil)
        #expect(room.value(forKey: "neighbour") == nil)
    }

    @Test func `Booleans are converted to numbers of every type, and 0 and 1 to Booleans`() {
        let gauge = Gauge()
        for key in ["width", "small", "level", "optional"] {
            gauge.setValue(true, forKey: key)
        }
        #expect(gauge.width == 1 && gauge.small == 1 && gauge.level == 1 && gauge.optional == 1)
        for key in ["width", "small", "level", "optional"] {
            gauge.setValue(false, forKey: key)
        }
        #expect(gauge.width == 0 && gauge.small == 0 && gauge.level == 0 && gauge.optional == 0)
        for number in [1, 1.0, Int8(1)] as [Any] {
            gauge.isOn = false
            gauge.setValue(number, forKey: "isOn")
            #expect(gauge.isOn)
        }
    }

    @Test func `bad names, values and assignments throw and change nothing`() {
        let thermometer = Thermometer()
        #expect(throws: KeyValueError.unknownKey(class: "Thermometer", key: "celsus", nearest: ["celsius"])) {
            try thermometer.tryValue(forKey: "celsus")
        }
        #expect(
            throws: KeyValueError.unknownKey(
                class: "Thermometer", key: "", nearest: ["celsius", "fahrenheit", "summary", "readings"])
        ) {
            try thermometer.tryValue(forKeyPath: "")
        }
        #expect(throws: KeyValueError.readOnly(class: "Thermometer", key: "summary")) {
            try thermometer.trySetValue("warm", forKey: "summary")
        }
        #expect(
            throws: KeyValueError.wrongType(class: "Thermometer", key: "celsius", expected: "Double", found: "String")
        ) {
            try thermometer.trySetValue("warm", forKey: "celsius")
        }
        #expect(throws: KeyValueError.wrongType(class: "Thermometer", key: "celsius", expected: "Double", found: "nil"))
        {
            try thermometer.trySetValue(nil, forKey: "celsius")
        }
        #expect(throws: KeyValueError.noObject(class: "Thermometer", key: "celsius", path: "celsius.x")) {
            try thermometer.tryValue(forKeyPath: "celsius.x")
        }
        #expect(thermometer.celsius == 20)
    }

    @Test func `numbers are converted if the conversion is exact`() throws {
        let gauge = Gauge()
        gauge.setValue(Int32(4), forKey: "width")
        gauge.setValue(2.0, forKey: "small")
        gauge.setValue(1, forKey: "isOn")
        gauge.setValue(3, forKey: "level")
        gauge.setValue(2, forKey: "grade")
        gauge.setValue(UInt8(7), forKey: "optional")
        #expect(gauge.width == 4 && gauge.small == 2 && gauge.isOn && gauge.level == 3 && gauge.grade == .high)
        #expect(gauge.optional == 7)
        gauge.setValue(nil, forKey: "optional")
        gauge.setValue(true, forKey: "width")
        #expect(gauge.optional == nil && gauge.width == 1)
        for (value, key) in [(2.5, "width"), (300, "small"), (2, "isOn"), (9, "grade"), ("4", "width")]
            as [(Any, String)]
        {
            #expect(throws: KeyValueError.self) { try gauge.trySetValue(value, forKey: key) }
        }
    }

    @Test func `an unknown name stops the process with a message`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Thermometer().value(forKey: "celcius")
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("Thermometer has no key 'celcius'; did you mean 'celsius'?"))
    }
}

private final class Gauge: KeyValueObservable {
    let keyValueRegistrar = KeyValueRegistrar()
    var width = 0
    var small: Int8 = 0
    var isOn = false
    var level = 0.0
    var grade = Grade.low
    var optional: Int?

    enum Grade: Int { case low = 1, high = 2 }

    static var keyValueKeys: [KeyValueKey] {
        [
            KeyValueKey("width", \Gauge.width), KeyValueKey("small", \Gauge.small), KeyValueKey("isOn", \Gauge.isOn),
            KeyValueKey("level", \Gauge.level), KeyValueKey("grade", \Gauge.grade),
            KeyValueKey("optional", \Gauge.optional),
        ]
    }
}
