import KeyValueObserving
import TestSupport
import Testing

/// Rule K3 on classes of the user's own.
struct HierarchyTests {
    @Test func `a property is the same in a subclass, whichever class the key path is spelled with`() {
        let log = Journal<String>()
        let kitchen = Kitchen()
        let tokens = [
            kitchen.observe(\.isHeated, options: .new) { log.append("Kitchen \($1.newValue!)") },
            kitchen.observe(\Kitchen.isHeated, options: .new) { log.append("spelled \($1.newValue!)") },
            (kitchen as Room).observe(\.isHeated, options: .new) { log.append("Room \($1.newValue!)") },
        ]
        kitchen.isHeated = true
        #expect(log.entries == ["Kitchen true", "spelled true", "Room true"])
        for token in tokens { token.invalidate() }
    }

    @Test func `an override is told with its own value`() {
        let (kitchen, log) = (Kitchen(), Journal<[Bool]>())
        let token = kitchen.observe(\.isComfortable, options: [.old, .new]) {
            log.append([$1.oldValue!, $1.newValue!])
        }
        kitchen.isHeated = true
        token.invalidate()
        #expect(log.entries == [[true, true]])
    }

    /// In a final class the key path of an override equals no other, so the value tells.
    @Test func `an override in a final class is told when its value has changed`() {
        let (attic, log) = (Attic(), Journal<[Bool]>())
        let token = attic.observe(\.isComfortable, options: [.old, .new]) {
            log.append([$1.oldValue!, $1.newValue!])
        }
        attic.isHeated = true
        attic.isHeated = true
        attic.isHeated = false
        token.invalidate()
        #expect(log.entries == [[false, true], [true, false]])
    }
}
