/// Returns the candidate that `name` is most likely meant to be.
///
/// - Returns: The first candidate with the fewest typing errors, or `nil` if even that candidate differs in more than a third
///   of its letters. A typing error is an added, missing or changed letter, or two swapped letters.
package func nearestName(to name: String, among candidates: some Sequence<String>) -> String? {
    var nearest: (name: String, slips: Int)?
    for candidate in candidates {
        let slips = typingSlips(from: Array(name.lowercased()), to: Array(candidate.lowercased()))
        if isNear(slips, name, candidate), slips < nearest?.slips ?? .max { nearest = (candidate, slips) }
    }
    return nearest?.name
}

/// Returns up to three similar candidates, the most similar first. If none is similar, returns all candidates when there are at
/// most eight, and none otherwise.
package func nearestNames(to name: String, among candidates: [String]) -> [String] {
    let near =
        candidates.map { ($0, typingSlips(from: Array(name.lowercased()), to: Array($0.lowercased()))) }
        .filter { isNear($0.1, name, $0.0) }
    if near.isEmpty { return candidates.count <= 8 ? candidates : [] }
    return near.sorted { $0.1 < $1.1 }.prefix(3).map(\.0)
}

private func isNear(_ slips: Int, _ name: String, _ candidate: String) -> Bool {
    slips <= max(1, max(name.count, candidate.count) / 3)
}

/// Returns the restricted Damerau-Levenshtein distance.
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
