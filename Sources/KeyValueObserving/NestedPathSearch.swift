/// A search for the registered properties on a nested key path.
///
/// The standard library compares whole key paths and offers no access to their steps. Trying all combinations of keys takes
/// exponential time. The search therefore tries only the keys that the descriptions of the key paths permit. The equality of the
/// key paths decides.
struct NestedPathSearch {
    /// A class that a part of the key path leads to, and the number of steps from there.
    private struct Place: Hashable {
        let table: ObjectIdentifier
        let remaining: Int
    }

    /// A part of the key path that one property of a class has to match.
    private struct Part: Hashable {
        let table: ObjectIdentifier
        let steps: ArraySlice<Int>
    }

    private typealias Candidate = (key: KeyValueKey, steps: [PathStep])

    private let path: AnyKeyPath
    /// A number for each step. Steps with one description have one number.
    private let numbers: [Int]
    /// The keys of the classes that the search has reached.
    private var candidates: [ObjectIdentifier: [Candidate]] = [:]
    /// The keys that the descriptions permit at each place.
    private var permitted: [Place: [Candidate]] = [:]
    /// The keys that the present combination uses. Steps of one class with one description are one property.
    private var chosen: [Part: KeyValueKey] = [:]
    private(set) var attempts = 0

    /// The number of combinations that a search may try. Each combination takes a few microseconds.
    private static let attemptLimit = 200_000

    private init(_ path: AnyKeyPath, _ steps: [PathStep]) {
        self.path = path
        numbers = steps.map { steps.firstIndex(of: $0) ?? 0 }
    }

    /// Returns the properties on a key path, from the first object to the last.
    ///
    /// - Returns: The properties, or nil unless all of them are registered; and the number of combinations that were tried.
    static func run(for path: AnyKeyPath, in table: KeyTable) -> (keys: [KeyValueKey]?, attempts: Int) {
        let steps = PathStep.steps(of: path)
        // A key path of one step is a property of the object itself.
        guard steps.count > 1 else { return (nil, 0) }
        var search = NestedPathSearch(path, steps)
        return (search.complete([], in: table, for: steps[...]), search.attempts)
    }

    /// Returns the first keys and keys for the other steps, which begin in the class of this table.
    private mutating func complete(
        _ first: [KeyValueKey], in table: KeyTable, for steps: ArraySlice<PathStep>
    ) -> [KeyValueKey]? {
        for candidate in permitted(in: table, for: steps) {
            let part = Part(
                table: ObjectIdentifier(table), steps: numbers[steps.startIndex...].prefix(candidate.steps.count))
            let chosenBefore = chosen[part]
            if let chosenBefore, chosenBefore.name != candidate.key.name { continue }
            let keys = first + [candidate.key]
            let rest = steps.dropFirst(candidate.steps.count)
            if rest.isEmpty {
                countAttempt()
                if Self.joined(keys) == path { return keys }
            } else if let child = candidate.key.childType {
                chosen[part] = candidate.key
                if let found = complete(keys, in: KeyTable.of(child), for: rest) { return found }
                chosen[part] = chosenBefore
            }
        }
        return nil
    }

    /// Returns the key path through several properties; nil if a property is not a property of the class before it.
    ///
    /// The order of joining matters. `a.appending(path: b).appending(path: c)` differs from `\.a.b.c` if the properties are
    /// settable. It keeps two marks of the last object that a change of the value goes through, and the literal has one.
    private static func joined(_ keys: [KeyValueKey]) -> AnyKeyPath? {
        let lastSettable = keys.lastIndex { $0.write != nil } ?? 0
        var whole: AnyKeyPath? = keys[lastSettable].path
        for key in keys[..<lastSettable].reversed() { whole = whole.flatMap { key.path.appending(path: $0) } }
        for key in keys[(lastSettable + 1)...] { whole = whole?.appending(path: key.path) }
        return whole
    }

    /// Stops the process if the search takes too long. The program would otherwise lose changes without a message.
    private mutating func countAttempt() {
        attempts += 1
        guard attempts > Self.attemptLimit else { return }
        fatalError(
            "the properties on the key path \(path.debugDescription) cannot be found, because too many registered properties "
                + "have one type; observe the path by name, with addObserver(_:forKeyPath:context:)")
    }

    /// Returns the keys that the descriptions permit for the next steps, those with exactly these descriptions first.
    private mutating func permitted(in table: KeyTable, for steps: ArraySlice<PathStep>) -> [Candidate] {
        let place = Place(table: ObjectIdentifier(table), remaining: steps.count)
        if let known = permitted[place] { return known }
        let fitting = candidates(in: table).filter { candidate in
            guard steps.starts(with: candidate.steps, by: PathStep.mayEqual) else { return false }
            let rest = steps.dropFirst(candidate.steps.count)
            if rest.isEmpty { return true }
            guard let child = candidate.key.childType else { return false }
            return !permitted(in: KeyTable.of(child), for: rest).isEmpty
        }
        let (exact, others) = (
            fitting.filter { steps.starts(with: $0.steps) }, fitting.filter { !steps.starts(with: $0.steps) }
        )
        permitted[place] = exact + others
        return exact + others
    }

    private mutating func candidates(in table: KeyTable) -> [Candidate] {
        if let known = candidates[ObjectIdentifier(table)] { return known }
        let new = table.keys.map { (key: $0, steps: PathStep.steps(of: $0.path)) }.filter { !$0.steps.isEmpty }
        candidates[ObjectIdentifier(table)] = new
        return new
    }
}

/// The description of one step of a key path, such as `name` or `<computed 0x000055d0c0ffee00 (Int)>`.
struct PathStep: Hashable {
    private let text: String
    private let textWithoutAddress: String

    private init(_ text: Substring) {
        self.text = String(text)
        textWithoutAddress = text.split(separator: " ").filter { !$0.hasPrefix("0x") }.joined(separator: " ")
    }

    /// Returns the steps of a key path. The description has a dot before each step, and may have dots in brackets.
    static func steps(of path: AnyKeyPath) -> [PathStep] {
        var (depth, last): (Int, Character) = (0, " ")
        let parts = path.debugDescription.split(omittingEmptySubsequences: false) { character in
            defer { last = character }
            switch character {
            case "<", "(", "[": depth += 1
            // The types of functions have arrows.
            case ">" where last == "-": break
            case ">", ")", "]": depth -= 1
            default: return character == "." && depth == 0
            }
            return false
        }
        return parts.dropFirst().map(PathStep.init)
    }

    /// Whether steps with these descriptions may be equal.
    ///
    /// The address of a getter is no evidence. `\Self.name` and `\Person.name` have getters of their own and are equal.
    static func mayEqual(_ one: PathStep, _ other: PathStep) -> Bool {
        one.textWithoutAddress == other.textWithoutAddress
    }
}
