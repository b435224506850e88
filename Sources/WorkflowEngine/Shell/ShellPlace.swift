/// Where in a shell command something stands, as far as that matters for what may be put there.
enum ShellPlace: Equatable {
    /// In a word, or where one may begin.
    case word
    /// Between quotation marks.
    case doubleQuotes
    /// Between apostrophes.
    case singleQuotes
    /// In a here-document in which the shell expands variables.
    case hereDocument
    /// In a comment.
    case comment
}

/// Why a value cannot be put somewhere so that it stays what it is.
enum ShellObstacle: Error, Equatable {
    case afterBackslash
    case arithmetic
    case parameterExpansion
    case quotedHereDocument
    case hereDocumentDelimiter
    case dollarQuotes
    /// From here on, shells disagree on what a command means, or it is not understood.
    case unclear(String)

    /// What is there, in words that continue “it stands”.
    var text: String {
        switch self {
        case .afterBackslash: "after a backslash"
        case .arithmetic: "in arithmetic"
        case .parameterExpansion: "in ${…}"
        case .quotedHereDocument: "in a here-document with a quoted delimiter, where the shell replaces nothing"
        case .hereDocumentDelimiter: "in the delimiter of a here-document"
        case .dollarQuotes: "in $'…'"
        case .unclear(let construct): "behind \(construct), which shells read differently"
        }
    }

    /// What to do about it.
    ///
    /// - Parameter variable: The variable that holds the value.
    func mend(variable: String) -> String {
        switch self {
        case .arithmetic:
            "its value could be code there: see that \"$\(variable)\" is a number, and assign it to a variable first"
        case .quotedHereDocument:
            "take the quotes off the delimiter"
        case .afterBackslash, .parameterExpansion, .hereDocumentDelimiter, .dollarQuotes, .unclear:
            "use \"$\(variable)\", which holds the same"
        }
    }
}
