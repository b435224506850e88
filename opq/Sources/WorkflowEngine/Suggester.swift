/// Finds which of many names a misspelt one was meant to be, with a bound on the work for a whole file.
///
/// To compare each of 20,000 misspelt names with each of 20,000 others takes minutes. When the bound is reached there are no
/// more suggestions: the first errors of a file that is wrong all over have theirs.
struct Suggester {
    /// Names to be compared with others, prepared for that.
    struct Candidates {
        fileprivate let names: [String]
        fileprivate let letters: [[Unicode.Scalar]]

        /// The names, in the order in which equally near ones are preferred.
        init(_ names: [String]) {
            self.names = names
            letters = names.map(Suggester.letters)
        }
    }

    /// How many steps are left: one for each name looked at, one for each pair of letters compared.
    private(set) var steps: Int

    /// A suggester that takes so many steps in all.
    init(steps: Int = 20_000_000) { self.steps = steps }

    /// The mend for a misspelt name: the nearest candidate or, if none is near, all of them when they are few.
    mutating func suggestion(for name: String, among candidates: Candidates) -> String? {
        if let nearest = nearest(to: name, among: candidates) { return "did you mean '\(nearest)'?" }
        guard (1...8).contains(candidates.names.count) else { return nil }
        return "expected " + (candidates.names.count > 1 ? "one of " : "") + candidates.names.joined(separator: ", ")
    }

    /// The first of the candidates with the fewest slips, if these are at most a third of the letters.
    private mutating func nearest(to name: String, among candidates: Candidates) -> String? {
        let letters = Self.letters(of: name)
        var nearest: (name: String, slips: Int)?
        for (candidate, other) in zip(candidates.names, candidates.letters) {
            steps -= 1
            guard steps > 0 else { return nil }
            let most = min(max(1, max(letters.count, other.count) / 3), (nearest?.slips ?? .max) - 1)
            guard most >= 0, abs(letters.count - other.count) <= most else { continue }
            steps -= letters.count * other.count
            let slips = Self.slips(from: letters, to: other)
            if slips <= most { nearest = (candidate, slips) }
        }
        return nearest?.name
    }

    private static func letters(of name: String) -> [Unicode.Scalar] { Array(name.lowercased().unicodeScalars) }

    /// The restricted Damerau-Levenshtein distance.
    private static func slips(from source: [Unicode.Scalar], to target: [Unicode.Scalar]) -> Int {
        var beforePrevious = [Int](repeating: 0, count: target.count + 1)
        var previous = Array(0...target.count)
        var current = beforePrevious
        for i in source.indices {
            current[0] = i + 1
            for j in target.indices {
                let change = previous[j] + (source[i] == target[j] ? 0 : 1)
                var slips = min(previous[j + 1] + 1, current[j] + 1, change)
                if i > 0, j > 0, source[i] == target[j - 1], source[i - 1] == target[j] {
                    slips = min(slips, beforePrevious[j - 1] + 1)
                }
                current[j + 1] = slips
            }
            (beforePrevious, previous, current) = (previous, current, beforePrevious)
        }
        return previous[target.count]
    }
}
