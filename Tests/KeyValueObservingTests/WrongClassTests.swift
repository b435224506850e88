import KeyValueObserving
import TestSupport
import Testing

/// A key path of another class never reads or writes the memory of an object.
@Suite(.tags(.release)) struct WrongClassTests {
    @Test func `a key with a key path of another class stops the process before a read`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            print(Impostor().value(forKey: "value") as Any)
        }
        #expect(message(result).contains("Impostor registers the key 'value' with a key path of Owner"))
    }

    @Test func `observing by name, by key path and through another object stops the process too`() async {
        let byName = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Impostor().addObserver(Observer(), forKeyPath: "value", context: nil)
        }
        let byPath = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Impostor().observe(\.number) { _, _ in }
        }
        let nested = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Holder().value(forKeyPath: "impostor.value")
        }
        for result in [byName, byPath, nested] { #expect(message(result).contains("another class")) }
    }

    @Test func `a key of a superclass is a key of the subclass`() {
        let heir = Heir()
        heir.setValue(7, forKey: "value")
        #expect(heir.value == 7 && heir.value(forKey: "value") as? Int == 7)
    }

    private func message(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }
}

private class Owner: KeyValueObservable {
    let keyValueRegistrar = KeyValueRegistrar()
    @KeyValueObserved var value = 1
    class var keyValueKeys: [KeyValueKey] { [KeyValueKey("value", \Owner.value)] }
}

private final class Heir: Owner {}

private final class Impostor: KeyValueObservable {
    var number: UInt = 0xDEAD_BEEF
    let keyValueRegistrar = KeyValueRegistrar()
    static var keyValueKeys: [KeyValueKey] { [KeyValueKey("value", \Owner.value)] }
}

private final class Holder: KeyValueObservable {
    let keyValueRegistrar = KeyValueRegistrar()
    let impostor = Impostor()
    static var keyValueKeys: [KeyValueKey] { [KeyValueKey("impostor", \Holder.impostor)] }
}

private final class Observer: KeyValueObserver {
    func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) {}
}
