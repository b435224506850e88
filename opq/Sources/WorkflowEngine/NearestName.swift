/// Returns the candidate that a misspelled name most likely means.
///
/// - Returns: The first candidate with the fewest typing errors (a letter added, omitted, replaced, or two exchanged). `nil`
///   when that candidate differs in more than a third of its letters.
func nearestName(to name: String, among candidates: some Sequence<String>) -> String? {
    candidates.lazy
        .map { candidate in (candidate, errors: typingErrors(from: name.lowercased(), to: candidate.lowercased())) }
        .filter { $0.errors <= max(1, max(name.count, $0.0.count) / 3) }
        .min { $0.errors < $1.errors }?.0
}

/// Returns the restricted Damerau-Levenshtein distance of two strings.
private func typingErrors(from first: String, to second: String) -> Int {
    let (source, target) = (Array(first), Array(second))
    var rows = [Array(0...target.count)]
    for i in source.indices {
        var row = [i + 1]
        for j in target.indices {
            var errors = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (source[i] == target[j] ? 0 : 1))
            if i > 0, j > 0, source[i] == target[j - 1], source[i - 1] == target[j] {
                errors = min(errors, rows[i - 1][j - 1] + 1)
            }
            row.append(errors)
        }
        rows.append(row)
    }
    return rows[source.count][target.count]
}
