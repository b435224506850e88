/// The reason why a value at a place would be changed or run.
enum ShellObstacle: Error, Equatable {
    case afterBackslash
    case arithmetic
    case parameterExpansion
    case quotedHereDocument
    case hereDocumentDelimiter
    case dollarQuotes
    /// In `[[ … ]]`, where some operators evaluate a word as arithmetic or read it as a pattern.
    case conditional
    /// After an open bracket in the word, which begins an arithmetic index or a set of characters.
    case brackets
    /// After `>&` or `<&`, because bash expands the word twice.
    case duplication
    /// In the format of `printf`, or before the format, where the value may be an option.
    case format
    /// In an argument in which bash evaluates an index, for example of `let`, `read` or `test -v`.
    case evaluated(by: String)
    /// In an argument that is code, for example of `eval`.
    case code(of: String)
    /// In the name of a file that the shell itself runs.
    case sourced
    /// In the value of a variable that bash evaluates.
    case variable(String)
    /// In an argument of a command whose name is an item, because the command may be `eval`.
    case unknownCommand
    /// In a command that declares a variable whose values bash evaluates.
    case declaration
    /// After text on whose meaning shells disagree, or that the scanner does not understand.
    case unclear(String)

    /// A description of the place, as a part of a sentence, such as “in arithmetic”.
    var text: String {
        switch self {
        case .afterBackslash: "after a backslash"
        case .arithmetic: "in arithmetic"
        case .parameterExpansion: "in ${…}"
        case .quotedHereDocument: "in a here-document with a quoted delimiter, where the shell replaces nothing"
        case .hereDocumentDelimiter: "in the delimiter of a here-document"
        case .dollarQuotes: "in $'…'"
        case .conditional: "in [[ … ]], where bash evaluates some words"
        case .brackets: "after an open bracket, in an index or in a set of characters"
        case .duplication: "after >& or <&, where bash expands a word twice"
        case .format: "in the format of printf, or before it"
        case .evaluated(let command): "in an argument of \(command), which bash evaluates"
        case .code(let command): "in an argument of \(command), which is code"
        case .sourced: "in the name of a file that the shell reads commands from"
        case .variable(let name): "in a value of \(name), which a shell evaluates"
        case .unknownCommand: "in an argument of a command whose name is an item"
        case .declaration: "in a command that declares an array, an integer or a reference, whose values bash evaluates"
        case .unclear(let construct): "after \(construct), which shells read differently"
        }
    }

    /// Returns the suggested fix.
    ///
    /// - Parameter variable: The variable that holds the value.
    func remedy(variable: String) -> String {
        switch self {
        case .arithmetic:
            "its value could be code there: check that \"$\(variable)\" is a number, and assign it to a variable first"
        case .quotedHereDocument:
            "remove the quotes from the delimiter"
        case .conditional:
            "use [ … ], or \"$\(variable)\" beside an operator that compares text"
        case .brackets:
            "put the brackets in quotes, or check that \"$\(variable)\" is a number, and use the variable"
        case .duplication:
            "use > \"$\(variable)\" or < \"$\(variable)\""
        case .format:
            "use printf %s \"$\(variable)\""
        case .evaluated, .variable, .declaration:
            "its value could be code there: check \"$\(variable)\", and use the variable"
        case .code:
            "write \"$\(variable)\" there, between apostrophes"
        case .afterBackslash, .parameterExpansion, .hereDocumentDelimiter, .dollarQuotes, .sourced, .unknownCommand,
            .unclear:
            "use \"$\(variable)\", which holds the same value"
        }
    }
}
