import TestSupport
import Testing

@testable import SchedulerCore

@Suite struct ReadinessTests {
    final class Dependency: Sendable {}

    private func make(_ count: Int) -> [Dependency] { (0..<count).map { _ in Dependency() } }

    private func isSame(_ a: [Dependency], _ b: [Dependency]) -> Bool {
        a.map(ObjectIdentifier.init) == b.map(ObjectIdentifier.init)
    }

    @Test(arguments: [1, 8, 9, 100])
    func `dependencies keep the order in which they were added`(count: Int) {
        let all = make(count)
        var readiness = Readiness<Dependency>()
        for dependency in all { #expect(readiness.add(dependency) == true) }
        #expect(isSame(readiness.dependencies, all))
        #expect(readiness.holding.isEmpty)
    }

    @Test(arguments: [1, 8, 9, 100])
    func `adding a dependency twice counts once`(count: Int) {
        let all = make(count)
        var readiness = Readiness<Dependency>()
        for dependency in all { _ = readiness.add(dependency) }
        for dependency in all { #expect(readiness.add(dependency) == false) }
        #expect(isSame(readiness.dependencies, all))
    }

    @Test(arguments: [1, 8, 9, 100])
    func `a dependency counts as unfinished from hold until it finishes, and stays listed`(count: Int) {
        let all = make(count)
        var readiness = Readiness<Dependency>()
        for dependency in all {
            _ = readiness.add(dependency)
            #expect(readiness.finished(dependency) == false, "it did not hold yet")
            readiness.holdLast()
        }
        #expect(isSame(readiness.holding, all))
        for dependency in all.reversed() {
            #expect(readiness.finished(dependency) == true)
            #expect(readiness.finished(dependency) == false, "it finishes once")
        }
        #expect(readiness.holding.isEmpty)
        #expect(isSame(readiness.dependencies, all))
    }

    @Test func `removing returns whether the dependency was unfinished, and nil for an unknown operation`() {
        let all = make(3)
        var readiness = Readiness<Dependency>()
        for dependency in all.prefix(2) { _ = readiness.add(dependency) }
        readiness.holdLast()
        _ = readiness.add(all[2])
        #expect(readiness.remove(all[0])?.held == false)
        #expect(readiness.remove(all[1])?.held == true)
        #expect(readiness.remove(all[1]) == nil)
        #expect(readiness.remove(Dependency()) == nil)
        #expect(isSame(readiness.dependencies, [all[2]]))
    }

    @Test func `an operation that is not a dependency has no effect`() {
        var readiness = Readiness<Dependency>()
        let stranger = Dependency()
        #expect(readiness.finished(stranger) == false)
        #expect(readiness.dependencies.isEmpty)
    }

    @Test(arguments: [8, 9, 30, 100])
    func `a removed dependency does not move the others, and returns at the end`(count: Int) {
        let all = make(count)
        var readiness = Readiness<Dependency>()
        for dependency in all { _ = readiness.add(dependency) }
        for index in all.indices where index % 3 != 0 {
            let removed = readiness.remove(all[index])
            #expect(removed?.dependency === all[index])
        }
        let kept = all.indices.filter { $0 % 3 == 0 }.map { all[$0] }
        #expect(isSame(readiness.dependencies, kept))
        for dependency in kept { #expect(readiness.add(dependency) == false, "it is still found") }
        #expect(readiness.add(all[1]) == true)
        #expect(isSame(readiness.dependencies, kept + [all[1]]))
        readiness.holdLast()
        #expect(isSame(readiness.holding, [all[1]]))
    }

    @Test func `holes stay in the minority regardless of the number of additions and removals`() {
        let all = make(20)
        var readiness = Readiness<Dependency>()
        for dependency in all { _ = readiness.add(dependency) }
        for round in 0..<10_000 {
            _ = readiness.remove(all[round % 20])
            _ = readiness.add(all[round % 20])
        }
        #expect(readiness.dependencies.count == 20)
        #expect(readiness.entries.count <= 2 * 20 + 10)
    }

    @Test func `many dependencies are found, finished and removed without a walk`() {
        let all = make(50_000)
        var readiness = Readiness<Dependency>()
        for dependency in all {
            _ = readiness.add(dependency)
            readiness.holdLast()
        }
        for dependency in all.reversed() where !readiness.finished(dependency) { Issue.record("it held nothing") }
        for dependency in all where readiness.remove(dependency) == nil { Issue.record("it was not there") }
        #expect(readiness.dependencies.isEmpty)
        #expect(readiness.entries.count <= 9)
    }

    @Test(arguments: [0, 1, 8, 9, 100])
    func `removing all returns all dependencies in order, and leaves none`(count: Int) {
        let all = make(count)
        var readiness = Readiness<Dependency>()
        for dependency in all {
            _ = readiness.add(dependency)
            readiness.holdLast()
        }
        var removed: [Dependency] = []
        readiness.removeAll(into: &removed)
        #expect(isSame(removed, all))
        #expect(readiness.dependencies.isEmpty)
        #expect(readiness.holding.isEmpty)
        for dependency in all.reversed() { #expect(readiness.add(dependency) == true) }
        #expect(isSame(readiness.dependencies, all.reversed()))
        #expect(readiness.holding.isEmpty, "nothing is left of what held before")
    }

    @Test(arguments: [1, 20])
    func `a dependency that was removed is not kept alive`(count: Int) {
        var readiness = Readiness<Dependency>()
        for dependency in make(count - 1) { _ = readiness.add(dependency) }
        weak var watched: Dependency?
        do {
            let dependency = Dependency()
            watched = dependency
            _ = readiness.add(dependency)
        }
        #expect(watched != nil, "until then it is")
        if let dependency = watched { _ = readiness.remove(dependency) }
        #expect(watched == nil)
    }

    @Test(arguments: UInt64(1)...60)
    func `readiness behaves like a plain list`(seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        let pool = make([6, 12, 40][Int(seed % 3)])
        var readiness = Readiness<Dependency>()
        var model: [(dependency: Dependency, holds: Bool)] = []
        for _ in 0..<400 {
            let dependency = generator.pick(pool)
            let place = model.firstIndex { $0.dependency === dependency }
            switch generator.below(100) {
            case 0..<50:
                #expect(readiness.add(dependency) == (place == nil))
                guard place == nil else { continue }
                let holds = generator.chance(60)
                if holds { readiness.holdLast() }
                model.append((dependency, holds))
            case 50..<72:
                #expect(readiness.finished(dependency) == place.map { model[$0].holds } ?? false)
                if let place { model[place].holds = false }
            case 72..<99:
                let removed = readiness.remove(dependency)
                #expect(removed?.held == place.map { model[$0].holds })
                #expect(removed?.dependency === place.map { model[$0].dependency })
                if let place { model.remove(at: place) }
            default:
                var removed: [Dependency] = []
                readiness.removeAll(into: &removed)
                #expect(isSame(removed, model.map(\.dependency)))
                model = []
            }
            try #require(isSame(readiness.dependencies, model.map(\.dependency)))
            try #require(isSame(readiness.holding, model.filter(\.holds).map(\.dependency)))
        }
    }
}
