import KeyValueObserving
import TestSupport
import Testing

/// Rule K3 for a user's classes.
struct HierarchyTests {
    @Test func `a property is the same for the key paths of a class and of its subclass`() {
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

    @Test func `an observer of an override receives the override's value`() {
        let (kitchen, log) = (Kitchen(), Journal<[Bool]>())
        let token = kitchen.observe(\.isComfortable, options: [.old, .new]) {
            log.append([$1.oldValue!, $1.newValue!])
        }
        kitchen.isHeated = true
        token.invalidate()
        #expect(log.entries == [[true, true]])
    }

    /// In a final class the key path of an override equals no other key path.
    @Test func `an observer of an override in a final class is notified like one of the property`() {
        let (attic, log) = (Attic(), Journal<[Bool]>())
        let token = attic.observe(\.isComfortable, options: [.old, .new]) {
            log.append([$1.oldValue!, $1.newValue!])
        }
        attic.isHeated = true
        attic.isHeated = true
        attic.isHeated = false
        token.invalidate()
        #expect(log.entries == [[false, true], [true, true], [true, false]])
    }

    @Test(arguments: [[], .new, [.old, .new]] as [NSKeyValueObservingOptions])
    func `a change on a path notifies an observer of an override in a final class once`(
        options: NSKeyValueObservingOptions
    ) {
        let (attic, log) = (Attic(), Journal<Bool>())
        let token = attic.observe(\.isComfortable, options: options) { attic, change in
            log.append(change.newValue ?? attic.isComfortable)
        }
        attic.thermometer.celsius = 10
        attic.isHeated = true
        attic.thermometer.celsius = 20
        attic.thermometer = Thermometer()
        attic.isHeated = false
        token.invalidate()
        #expect(log.entries == [false, false, true, true, false])
    }

    /// `\Sub.x` and `\Base.x` are different key paths, and neither class has registered the property.
    @Test(arguments: [[], [.new], [.old, .new]] as [NSKeyValueObservingOptions])
    func `an observer by a subclass's key path is notified of an unregistered property of the base class`(
        options: NSKeyValueObservingOptions
    ) {
        let (cellar, log) = (Cellar(), Journal<[Int]>())
        let token = cellar.observe(\.bottles, options: options) { cellar, change in
            log.append([change.oldValue ?? 0, change.newValue ?? cellar.bottles])
        }
        cellar.bottles = 1
        cellar.shelves = 7
        cellar.bottles = 2
        let isOldKnown = options.contains(.old)
        #expect(log.entries == [[0, 1], [isOldKnown ? 1 : 0, 2]])
        token.invalidate()
        cellar.bottles = 3
        #expect(log.entries.count == 2)
    }

    @Test func `the sequence of values of an unregistered base-class property works in a subclass`() async {
        let cellar = Cellar()
        var values = cellar.values(for: \.bottles, bufferingPolicy: .unbounded).makeAsyncIterator()
        cellar.bottles = 1
        #expect(await values.next() == 0)
        #expect(await values.next() == 1)
    }

    @Test func `an observer by the base class's key path is notified of a property that the subclass announces`() {
        let (cellar, log) = (Cellar(), Journal<String>())
        let tokens = [
            (cellar as Storage).observe(\.total, options: .new) { log.append("base \($1.newValue!)") },
            cellar.observe(\.total, options: .new) { log.append("sub \($1.newValue!)") },
        ]
        cellar.fill(4)
        #expect(log.entries.sorted() == ["base 4", "sub 4"])
        for token in tokens { token.invalidate() }
    }

    @Test func `an observer by the announced key path is notified of each announcement`() {
        let (cellar, log) = (Cellar(), Journal<Int>())
        let token = (cellar as Storage).observe(\.bottles, options: .new) { log.append($1.newValue!) }
        cellar.bottles = 1
        cellar.bottles = 1
        #expect(log.entries == [1, 1])
        token.invalidate()
    }
}

private class Storage: KeyValueObservable {
    let keyValueRegistrar = KeyValueRegistrar()
    @KeyValueObserved var bottles = 0
    @KeyValueObserved var shelves = 0
    var total: Int { 0 }
}

private final class Cellar: Storage {
    private var kegs = 0
    override var total: Int { kegs }

    func fill(_ count: Int) {
        willChangeValue(for: \.total)
        kegs = count
        didChangeValue(for: \.total)
    }
}
