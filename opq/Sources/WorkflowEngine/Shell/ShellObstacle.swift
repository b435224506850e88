/// The place of a placeholder in a shell command, on which the quotes of its variable depend.
enum ShellPlace: Equatable {
    /// In a word, or at a place where a word may begin.
    case word
    /// Between quotation marks, or in a here-document in which the shell expands variables.
    case quoted
    case comment
}

/// The reason why no variable can stand at a place.
enum ShellObstacle: Error, Equatable {
    case apostrophes
    case dollarQuotes
    case quotedHereDocument
    case hereDocumentDelimiter
    case afterBackslash
    /// In arithmetic, which bash evaluates: an index in a value can run a command.
    case arithmetic
    /// In `${…}`, which may contain arithmetic or a pattern.
    case parameterExpansion
    /// In `[[ … ]]`, where some operators evaluate a word as arithmetic or read it as a pattern.
    case conditional
    /// After an open bracket in the word, which begins an arithmetic index or a set of characters.
    case brackets
    /// After `>&` or `<&`, because bash expands the word twice.
    case duplication
    /// In the format of `printf`.
    case format
    /// In an argument that is code, or that a shell evaluates.
    case evaluated(by: String)
    /// In the value of a variable that a shell evaluates.
    case variable(String)
    /// In a command that declares a variable whose values bash evaluates.
    case declaration
    /// In an argument of a command whose name is not known before it runs.
    case name
    /// In a text in which a shell reads its code from standard input.
    case codeFromInput(String)
    case aliases
    /// In a text with backquotes in backquotes.
    case nestedBackquotes
    /// In a text with more open constructs than the scanner reads.
    case depth

    /// A description of the place, as a part of a sentence, such as “in arithmetic”.
    var text: String {
        switch self {
        case .apostrophes: "between apostrophes, where the shell replaces nothing"
        case .dollarQuotes: "in $'…', where the shell replaces nothing"
        case .quotedHereDocument: "in a here-document with a quoted delimiter, where the shell replaces nothing"
        case .hereDocumentDelimiter: "in the delimiter of a here-document"
        case .afterBackslash: "after a backslash"
        case .arithmetic: "in arithmetic"
        case .parameterExpansion: "in ${…}"
        case .conditional: "in [[ … ]], where bash evaluates some words"
        case .brackets: "after an open bracket, in an index or in a set of characters"
        case .duplication: "after >& or <&, where bash expands a word twice"
        case .format: "in the format of printf"
        case .evaluated(let command): "in an argument of \(command), which is evaluated as code"
        case .variable(let name): "in a value of \(name), which a shell evaluates"
        case .declaration: "in a command that declares an array, an integer or a reference, whose values bash evaluates"
        case .name: "in an argument of a command whose name is an expansion or a pattern, and may be 'eval'"
        case .codeFromInput(let command): "in a command in which \(command) reads code from its input"
        case .aliases: "in a command that defines aliases, which may stand for 'eval'"
        case .nestedBackquotes: "in a command with backquotes within backquotes"
        case .depth: "in a command with more than \(ShellScanner.depthLimit) nested constructs"
        }
    }

    /// Returns the suggested fix.
    ///
    /// - Parameter variable: The variable that holds the value.
    func remedy(variable: String) -> String {
        switch self {
        case .apostrophes: "end the apostrophes before it, as in 'a'\"$\(variable)\"'b', or use quotation marks"
        case .quotedHereDocument: "remove the quotes from the delimiter"
        case .duplication: "use > \"$\(variable)\" or < \"$\(variable)\""
        case .format: "use printf %s \"$\(variable)\""
        case .evaluated(by: "ssh"), .evaluated(by: "slogin"), .evaluated(by: "rsh"), .evaluated(by: "mosh"):
            "send \"$\(variable)\" to its standard input, and read it there"
        case .name: "write the name itself, or use \"$\(variable)\" if that command runs no argument as code"
        case .codeFromInput: "use \"$\(variable)\" in the code itself, or elsewhere if it does not get there"
        case .aliases: "use a function"
        case .nestedBackquotes: "use $(…)"
        case .depth: "put the command in a script, and pass \"$\(variable)\" to it"
        case .evaluated: "write $\(variable) there, between apostrophes, and in the quotation marks of that code"
        case .arithmetic, .conditional, .brackets, .variable, .declaration:
            "its value could be code there: check \"$\(variable)\" first, and use the variable"
        case .afterBackslash, .parameterExpansion, .hereDocumentDelimiter, .dollarQuotes:
            "use \"$\(variable)\", which holds the same value"
        }
    }
}
