/// The diagnostics gathered so far.
///
/// The same diagnostic reported twice, say for every member of a family, is kept once.
struct Diagnostics: Sendable {
    private var seen: Set<Diagnostic> = []
    private var reported: [Diagnostic] = []

    /// Whether nothing is wrong so far.
    var isEmpty: Bool { reported.isEmpty }

    /// All of them in the order of the file, those without a position first.
    var inFileOrder: [Diagnostic] {
        reported.enumerated().sorted { lhs, rhs in
            let (left, right) = (lhs.element.position, rhs.element.position)
            if left == right { return lhs.offset < rhs.offset }
            guard let left else { return true }
            guard let right else { return false }
            return left < right
        }.map(\.element)
    }

    /// Adds a diagnostic unless the very same one is there already.
    mutating func report(_ message: String, at position: SourcePosition?, mend: String? = nil) {
        let diagnostic = Diagnostic(message, at: position, mend: mend)
        if seen.insert(diagnostic).inserted { reported.append(diagnostic) }
    }
}
