/// The name among `candidates` that was most likely meant by `name`.
///
/// - Returns: The first candidate with the fewest typing slips (a letter added, left out, changed or two
///   swapped), or `nil` when even that one differs in more than a third of its letters.
func nearestName(to name: String, among candidates: some Sequence<String>) -> String? {
    var nearest: (name: String, slips: Int)?
    for candidate in candidates {
        let slips = typingSlips(from: Array(name.lowercased()), to: Array(candidate.lowercased()))
        let tolerated = max(1, max(name.count, candidate.count) / 3)
        if slips <= tolerated, slips < nearest?.slips ?? .max {
            nearest = (candidate, slips)
        }
    }
    return nearest?.name
}

/// The mend for a misspelt name: the nearest candidate or, if none is near, all of them when they are few.
func suggestion(for name: String, among candidates: [String]) -> String? {
    if let nearest = nearestName(to: name, among: candidates) {
        return "did you mean '\(nearest)'?"
    }
    guard (1...8).contains(candidates.count) else { return nil }
    return "expected " + (candidates.count > 1 ? "one of " : "") + candidates.joined(separator: ", ")
}

/// The restricted Damerau-Levenshtein distance.
private func typingSlips(from source: [Character], to target: [Character]) -> Int {
    var beforePrevious: [Int] = []
    var previous = Array(0...target.count)
    for i in source.indices {
        var current = [i + 1]
        for j in target.indices {
            let change = previous[j] + (source[i] == target[j] ? 0 : 1)
            var slips = min(previous[j + 1] + 1, current[j] + 1, change)
            if i > 0, j > 0, source[i] == target[j - 1], source[i - 1] == target[j] {
                slips = min(slips, beforePrevious[j - 1] + 1)
            }
            current.append(slips)
        }
        (beforePrevious, previous) = (previous, current)
    }
    return previous[target.count]
}

extension Diagnostics {
    /// The case of `Choice` that `name` spells; a misspelt one is reported.
    mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: Located<String>, for key: String
    ) -> Choice? {
        let choice = Choice(rawValue: name.value)
        if choice == nil {
            report(
                "unknown \(key) '\(name.value)'", at: name.position,
                mend: suggestion(for: name.value, among: Choice.allCases.map(\.rawValue)))
        }
        return choice
    }
}
