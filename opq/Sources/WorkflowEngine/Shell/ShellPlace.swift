/// Where a value stands in a shell command, as far as the quoting depends on it.
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
