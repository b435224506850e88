/// The remedy for a misspelled name: the nearest candidate or, if none is near, all of them when they are few.
package func suggestion(for name: String, among candidates: [String]) -> String? {
    if let nearest = nearestName(to: name, among: candidates) {
        return "did you mean '\(nearest)'?"
    }
    guard (1...8).contains(candidates.count) else { return nil }
    return "expected " + (candidates.count > 1 ? "one of " : "") + candidates.joined(separator: ", ")
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
