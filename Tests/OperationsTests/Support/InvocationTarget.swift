import Operations
import TestSupport

/// A target with methods of all forms, in the type-safe form and by selector.
class InvocationTarget: SelectorResponding, @unchecked Sendable {
    struct Failure: Error, Equatable { let number: Int }

    let calls = Journal<String>()
    let started = Gate()
    let gate = Gate()

    class var methods: [Selector: InvocationMethod] {
        [
            "fetch": .init(InvocationTarget.fetchAll), "fetch:": .init(InvocationTarget.fetch(from:)),
            "log": .init(InvocationTarget.log), "echo:": .init(InvocationTarget.echo),
            "double:": .init(InvocationTarget.double), "fail:": .init(InvocationTarget.fail(with:)),
        ]
    }

    func fetchAll() -> String {
        calls.append("fetch")
        return "fetched"
    }

    func fetch(from place: String) -> String {
        calls.append("fetch \(place)")
        return "fetched \(place)"
    }

    func log() { calls.append("log") }

    func echo(_ value: Int?) -> Int? { value }

    func double(_ value: Double) -> Double { value * 2 }

    func one() -> Int { 1 }

    func list() -> [Int] { [1, 2, 3] }

    func take(_ other: InvocationTarget) -> String { "got it" }

    func fail(with number: Int) throws -> String { throw Failure(number: number) }

    func failSilently() throws { throw Failure(number: 2) }

    func wait() -> Int {
        started.open()
        gate.pass()
        return 1
    }
}

/// A subclass with more methods.
final class SpecialInvocationTarget: InvocationTarget, @unchecked Sendable {
    override class var methods: [Selector: InvocationMethod] {
        super.methods.merging(["special": .init(SpecialInvocationTarget.special)]) { $1 }
    }

    func special() -> String { "special" }

    override func fetchAll() -> String { "specially fetched" }
}
