/// A collection of the diagnostics of one file.
///
/// The collection keeps equal diagnostics once. For example, every member of a family may report the same error.
struct Diagnostics: Sendable {
    private var seen: Set<Diagnostic> = []
    private var reported: [Diagnostic] = []

    /// Whether the collection contains an error.
    private(set) var hasErrors = false

    /// The diagnostics in the order of the file. Diagnostics without a position come first.
    var inFileOrder: [Diagnostic] {
        reported.enumerated().sorted { lhs, rhs in
            let (left, right) = (lhs.element.position, rhs.element.position)
            if left == right { return lhs.offset < rhs.offset }
            guard let left else { return true }
            guard let right else { return false }
            return left < right
        }.map(\.element)
    }

    /// Adds a diagnostic unless the collection already contains an equal one.
    mutating func report(
        _ message: String, at position: SourcePosition?, remedy: String? = nil, severity: Diagnostic.Severity = .error
    ) {
        report(Diagnostic(message, at: position, remedy: remedy, severity: severity))
    }

    /// Adds a diagnostic unless the collection already contains an equal one.
    mutating func report(_ diagnostic: Diagnostic) {
        guard seen.insert(diagnostic).inserted else { return }
        reported.append(diagnostic)
        if diagnostic.severity == .error { hasErrors = true }
    }
}
