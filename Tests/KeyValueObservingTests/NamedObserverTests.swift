import KeyValueObserving
import TestSupport
import Testing

/// Rules K2, K4: observers by name.
struct NamedObserverTests {
    @Test func `an observer by name receives the path, the kind, the values and the context`() {
        let (thermometer, observer) = (Thermometer(), Recorder())
        let context = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
        defer { context.deallocate() }
        thermometer.addObserver(
            observer, forKeyPath: "celsius", options: [.initial, .old, .new, .prior], context: context)
        thermometer.celsius = 21
        thermometer.removeObserver(observer, forKeyPath: "celsius", context: context)
        thermometer.celsius = 22
        #expect(observer.values.entries == ["nil 20.0", "20.0 nil", "20.0 21.0"])
        #expect(
            observer.details.entries == ["celsius 1 false false", "celsius 1 true false", "celsius 1 false false"])
    }

    @Test func `a name and its alias identify the same property`() {
        let (room, observer) = (Room(), Recorder())
        room.addObserver(observer, forKeyPath: "heated", options: [.new], context: nil)
        room.addObserver(observer, forKeyPath: "isHeated", options: [.new], context: nil)
        room.isHeated = true
        room.willChangeValue(forKey: "heated")
        room.didChangeValue(forKey: "heated")
        #expect(observer.values.entries == Array(repeating: "nil true", count: 4))
        room.removeObserver(observer, forKeyPath: "heated")
        room.removeObserver(observer, forKeyPath: "isHeated")
    }

    @Test func `a deallocated observer is not notified`() {
        let thermometer = Thermometer()
        var observer: Recorder? = Recorder()
        thermometer.addObserver(observer!, forKeyPath: "celsius", context: nil)
        let values = observer!.values
        observer = nil
        thermometer.celsius = 1
        #expect(values.entries == [])
    }

    @Test func `an observer added twice is notified twice, and each removal removes the last registration`() {
        let (thermometer, observer) = (Thermometer(), Recorder())
        thermometer.addObserver(observer, forKeyPath: "celsius", options: [.old], context: nil)
        thermometer.addObserver(observer, forKeyPath: "celsius", options: [.new], context: nil)
        thermometer.celsius = 1
        thermometer.removeObserver(observer, forKeyPath: "celsius")
        thermometer.celsius = 2
        thermometer.removeObserver(observer, forKeyPath: "celsius")
        #expect(observer.values.entries == ["20.0 nil", "nil 1.0", "1.0 nil"])
    }

    @Test func `the error of removing a missing observer names the observer, the class and the path`() {
        let (thermometer, observer) = (Thermometer(), Recorder())
        #expect(throws: KeyValueError.notObserving(observer: "Recorder", class: "Thermometer", path: "celsius")) {
            try thermometer.tryRemoveObserver(observer, forKeyPath: "celsius")
        }
        thermometer.addObserver(observer, forKeyPath: "celsius", context: nil)
        let context = UnsafeMutableRawPointer(bitPattern: 1)
        #expect(throws: KeyValueError.self) {
            try thermometer.tryRemoveObserver(observer, forKeyPath: "celsius", context: context)
        }
        thermometer.celsius = 1
        #expect(observer.values.entries.count == 1)
        thermometer.removeObserver(observer, forKeyPath: "celsius")
    }

    @Test func `removing a missing observer stops the process with a message`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Thermometer().removeObserver(Recorder(), forKeyPath: "celsius")
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("Recorder does not observe 'celsius' of this Thermometer"))
    }

    @Test func `the error of an unknown name contains the nearest name`() {
        let (room, observer) = (Room(), Recorder())
        #expect(throws: KeyValueError.unknownKey(class: "Thermometer", key: "celcius", nearest: ["celsius"])) {
            try room.tryAddObserver(observer, forKeyPath: "thermometer.celcius", context: nil)
        }
        #expect(throws: KeyValueError.noObject(class: "Room", key: "isHeated", path: "isHeated.by")) {
            try room.tryAddObserver(observer, forKeyPath: "isHeated.by", context: nil)
        }
    }

    @Test func `announced changes of an unregistered name are observed`() {
        let (thermometer, observer) = (Thermometer(), Recorder())
        thermometer.addObserver(observer, forKeyPath: "battery", options: [.new, .old], context: nil)
        thermometer.willChangeValue(forKey: "battery")
        thermometer.didChangeValue(forKey: "battery")
        thermometer.removeObserver(observer, forKeyPath: "battery")
        #expect(observer.values.entries == ["nil nil"])
    }

    @Test(arguments: ["", ".", ".."]) func `a path without a name is observed, without values`(path: String) {
        let (thermometer, observer) = (Thermometer(), Recorder())
        thermometer.addObserver(observer, forKeyPath: path, options: [.initial, .old, .new], context: nil)
        thermometer.willChangeValue(forKey: path)
        thermometer.didChangeValue(forKey: path)
        thermometer.removeObserver(observer, forKeyPath: path)
        #expect(observer.values.entries == ["nil nil", "nil nil"])
        #expect(throws: KeyValueError.self) { try thermometer.tryValue(forKeyPath: path) }
        #expect(throws: KeyValueError.self) { try thermometer.trySetValue(1, forKeyPath: path) }
    }

    @Test(arguments: [1, 2, 16, 17, 40]) func `of many observers, each removal removes the one that is meant`(
        count: Int
    ) {
        let thermometer = Thermometer()
        let observers = (0..<count).map { _ in Recorder() }
        let contexts = (1...2).map { UnsafeMutableRawPointer(bitPattern: $0) }
        func add(_ observer: Recorder) {
            for context in contexts { thermometer.addObserver(observer, forKeyPath: "celsius", context: context) }
        }
        observers.forEach(add)
        for (number, observer) in observers.enumerated() {
            thermometer.removeObserver(observer, forKeyPath: "celsius", context: contexts[number % 2])
            #expect(throws: KeyValueError.self) {
                try thermometer.tryRemoveObserver(observer, forKeyPath: "celsius", context: contexts[number % 2])
            }
        }
        thermometer.celsius = 1
        #expect(observers.allSatisfy { $0.values.entries.count == 1 })
        // Added after the first removals.
        observers.forEach(add)
        for observer in (observers + observers + observers).reversed() {
            thermometer.removeObserver(observer, forKeyPath: "celsius")
        }
        #expect(thermometer.keyValueRegistrar.isEmpty)
    }
}
