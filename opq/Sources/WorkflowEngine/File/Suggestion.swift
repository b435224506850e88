/// Returns the fix for a misspelled name: the nearest candidate. If no candidate is near, the fix lists all candidates when
/// there are at most eight.
package func suggestion(for name: String, among candidates: [String]) -> String? {
    var suggester = Suggester()
    return suggester.suggestion(for: name, among: Suggester.Candidates(candidates))
}

extension Diagnostics {
    /// Returns the case of `Choice` with the given name, and reports an unknown name.
    mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: Located<String>, for key: String
    ) -> Choice? {
        let choice = Choice(rawValue: name.value)
        if choice == nil {
            report(
                "unknown \(key) '\(name.value)'", at: name.position,
                remedy: suggestion(for: name.value, among: Choice.allCases.map(\.rawValue)))
        }
        return choice
    }
}
