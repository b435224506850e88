/// A search for the name that a misspelled name most likely means. The search limits its work for a whole file.
///
/// Comparing 20,000 misspelled names with 20,000 others takes minutes. When the limit is reached, later errors get no
/// suggestions.
struct Suggester {
    /// Names that are prepared for comparison.
    struct Candidates {
        fileprivate let names: [String]
        fileprivate let letters: [[Unicode.Scalar]]

        /// Creates candidates. Among equally near candidates, the suggester prefers the first.
        init(_ names: [String]) {
            self.names = names
            letters = names.map(Suggester.letters)
        }
    }

    /// The number of remaining steps. Each name costs one step, and each compared pair of letters costs one step.
    private(set) var steps: Int

    /// Creates a suggester that takes at most `steps` steps in total.
    init(steps: Int = 20_000_000) { self.steps = steps }

    /// Returns the fix for a misspelled name: the nearest candidate. If no candidate is near, the fix lists all candidates
    /// when there are at most eight.
    mutating func suggestion(for name: String, among candidates: Candidates) -> String? {
        if let nearest = nearest(to: name, among: candidates) { return "did you mean '\(nearest)'?" }
        guard (1...8).contains(candidates.names.count) else { return nil }
        return "expected " + (candidates.names.count > 1 ? "one of " : "") + candidates.names.joined(separator: ", ")
    }

    /// Returns the first candidate with the fewest typing errors. `nil` if the errors exceed a third of the letters.
    mutating func nearest(to name: String, among candidates: Candidates) -> String? {
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

    /// Returns the restricted Damerau-Levenshtein distance of two names.
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
