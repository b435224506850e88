/// The place of a value in a shell command, on which the quoting depends.
enum ShellPlace: Equatable {
    /// In a word, or at a place where a word may begin.
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
