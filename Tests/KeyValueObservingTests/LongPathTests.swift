@testable import KeyValueObserving
import TestSupport
import Testing

/// Key paths with many steps, and classes that refer to one another.
@Suite(.timeLimit(.minutes(5))) struct LongPathTests {
    @Test func `a nested key path of twelve steps is observed at every step`() {
        let links = (0..<12).map { _ in Link() }
        for (link, next) in zip(links, links.dropFirst()) { link.a = next }
        let log = Journal<[Int]>()
        let token = links[0].observe(\.a.a.a.a.a.a.a.a.a.a.a.number, options: [.old, .new]) {
            log.append([$1.oldValue!, $1.newValue!])
        }
        links[11].number = 1
        let other = Link()
        other.number = 2
        links[10].a = other
        links[11].number = 3
        other.number = 4
        #expect(log.entries == [[0, 1], [1, 2], [2, 4]])
        token.invalidate()
        withExtendedLifetime(links) {}
    }

    /// The last property depends on no other. Only the path can notify its observer, and only for the right object.
    @Test func `a nested key path is observed through settable and read-only properties in any order`() {
        func isObserved(_ path: KeyPath<Link, Int>) -> Bool {
            let links = (0..<5).map { _ in Link() }
            for (link, next) in zip(links, links.dropFirst()) {
                for step in [\Link.a, \.b, \.c, \.d] { link[keyPath: step] = next }
            }
            let log = Journal<Int>()
            let token = links[0].observe(path, options: .new) { log.append($1.newValue!) }
            links[4].number = 1
            token.invalidate()
            withExtendedLifetime(links) {}
            return log.entries == [1]
        }
        #expect(isObserved(\.a.a.a.a.number) && isObserved(\.d.c.b.a.number) && isObserved(\.fixed.b.fixed.a.number))
        #expect(isObserved(\.a.b.fixed.d.number) && isObserved(\.fixed.fixed.fixed.fixed.number))
        #expect(isObserved(\.a.b.c.d.half.number) && isObserved(\.a.b.c.fixed.half.half.number))
        #expect(isObserved(\.a.b.c.d.same) && isObserved(\.a.b.fixed.fixed.same) && isObserved(\.a.b.c.fixed.half.same))
    }

    @Test func `a nested key path is observed if the class spells its keys with its own name`() {
        let (chain, log) = (Chain(), Journal<Int>())
        let end = chain.next.next.next
        let token = chain.observe(\.next.next.next.number, options: .new) { log.append($1.newValue!) }
        end.number = 1
        #expect(log.entries == [1])
        token.invalidate()
        withExtendedLifetime(chain) {}
    }

    @Test func `a nested key path is observed if its description has the arrow of a function's type`() {
        let (box, log) = (Box<(Int) -> Int>(), Journal<Int>())
        let token = box.observe(\.next.next.number, options: .new) { log.append($1.newValue!) }
        box.next.next.number = 1
        #expect(log.entries == [1])
        token.invalidate()
        withExtendedLifetime(box) {}
    }

    /// Trying all combinations of keys would take minutes. Each path with three different steps has some thousand permitted ones.
    @Test(.tags(.slow))
    func `the time for many unregistered nested key paths does not grow with the number of combinations`() {
        let link = Link()
        let steps = [\Link.a, \.b, \.c, \.d, \.e, \.f, \.g, \.h, \.i, \.j].prefix(Stress.rounds(10, least: 2))
        let log = Journal<Int>()
        for first in steps {
            for last in steps {
                let (two, four) = (first.appending(path: first), last.appending(path: last).appending(path: \.a.a))
                let path = two.appending(path: four).appending(path: \.unregistered)
                let token = link.observe(path, options: .new) { log.append($1.newValue!) }
                // As for every unregistered property, an announcement by the key path itself notifies.
                link.willChangeValue(for: path)
                link.unregistered += 1
                link.didChangeValue(for: path)
                token.invalidate()
            }
        }
        #expect(log.entries == Array(1...steps.count * steps.count))
        let (two, four) = (
            steps[0].appending(path: steps[1]), steps[1].appending(path: steps.last!).appending(path: steps.last!)
        )
        let path = two.appending(path: four).appending(path: steps[0]).appending(path: \.unregistered)
        let attempts = NestedPathSearch.run(for: path, in: KeyTable.of(Link.self)).attempts
        #expect((1...10_000).contains(attempts))
    }

    @Test func `a search for the properties on a key path that takes too long stops the process with a remedy`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = Link().observe(\.a.b.c.d.e.f.unregistered) { _, _ in }
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("observe the path by name, with addObserver(_:forKeyPath:context:)"))
    }
}

/// An object that refers to others by ten properties of one type, and to itself at first.
private class Link: KeyValueObservable, @unchecked Sendable {
    // Sendable: each test uses its objects on one thread.
    let keyValueRegistrar = KeyValueRegistrar()
    private var links: [String: Link] = [:]
    @KeyValueObserved var number = 0
    var unregistered = 0

    var fixed: Link { self["a"] }
    var half: Link { self }
    var same: Int { number }

    private subscript(name: String) -> Link {
        get { links[name] ?? self }
        set {
            willChangeValue(forKey: name)
            links[name] = newValue
            didChangeValue(forKey: name)
        }
    }

    var a: Link {
        get { self["a"] }
        set { self["a"] = newValue }
    }
    var b: Link {
        get { self["b"] }
        set { self["b"] = newValue }
    }
    var c: Link {
        get { self["c"] }
        set { self["c"] = newValue }
    }
    var d: Link {
        get { self["d"] }
        set { self["d"] = newValue }
    }
    var e: Link {
        get { self["e"] }
        set { self["e"] = newValue }
    }
    var f: Link {
        get { self["f"] }
        set { self["f"] = newValue }
    }
    var g: Link {
        get { self["g"] }
        set { self["g"] = newValue }
    }
    var h: Link {
        get { self["h"] }
        set { self["h"] = newValue }
    }
    var i: Link {
        get { self["i"] }
        set { self["i"] = newValue }
    }
    var j: Link {
        get { self["j"] }
        set { self["j"] = newValue }
    }
}

extension KeyValueObservable where Self: Link {
    fileprivate static var keyValueKeys: [KeyValueKey] {
        [
            KeyValueKey("a", \Self.a), KeyValueKey("b", \Self.b),
            KeyValueKey("c", \Self.c), KeyValueKey("d", \Self.d),
            KeyValueKey("e", \Self.e), KeyValueKey("f", \Self.f),
            KeyValueKey("g", \Self.g), KeyValueKey("h", \Self.h),
            KeyValueKey("i", \Self.i), KeyValueKey("j", \Self.j),
            KeyValueKey("fixed", \Self.fixed, affectedBy: ["a"]), KeyValueKey("half", \Self.half),
            KeyValueKey("number", \Self.number), KeyValueKey("same", \Self.same, affectedBy: ["number"]),
        ]
    }
}

private final class Chain: KeyValueObservable {
    let keyValueRegistrar = KeyValueRegistrar()
    private(set) lazy var next: Chain = Chain()
    private(set) lazy var previous: Chain = Chain()
    @KeyValueObserved var number = 0

    static var keyValueKeys: [KeyValueKey] {
        [
            KeyValueKey("previous", \Chain.previous), KeyValueKey("next", \Chain.next),
            KeyValueKey("number", \Chain.number),
        ]
    }
}

private final class Box<Content>: KeyValueObservable {
    let keyValueRegistrar = KeyValueRegistrar()
    private(set) lazy var next: Box<Content> = Box()
    @KeyValueObserved var number = 0

    static var keyValueKeys: [KeyValueKey] {
        [KeyValueKey("next", \Box<Content>.next), KeyValueKey("number", \Box<Content>.number)]
    }
}
