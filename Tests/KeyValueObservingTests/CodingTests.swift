import KeyValueObserving
import TestSupport
import Testing

/// Rule K5.
struct CodingTests {
    @Test func `a value is read and set by name, also a computed one, and the change is announced`() {
        let (thermometer, log) = (Thermometer(), Journal<Double>())
        let token = thermometer.observe(\.celsius, options: .new) { log.append($1.newValue!) }
        thermometer.setValue(212.0, forKey: "fahrenheit")
        #expect(thermometer.value(forKey: "celsius") as? Double == 100)
        thermometer.setValue(7.0, forKey: "centigrade")
        #expect(log.entries == [100, 7])
        token.invalidate()
    }

    @Test func `a path of names is read and set through the objects on it`() {
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

    @Test func `an unknown name stops the process with a message`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Thermometer().value(forKey: "celcius")
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("Thermometer has no key 'celcius'; did you mean 'celsius'?"))
    }
}
