/// Follows a shell command from left to right, to quote what is put into it.
///
/// A value stays one word, or part of one, wherever it stands: bare, within quotation marks of either kind,
/// or in a command substitution. Here-documents are not told from other text.
struct ShellQuoting {
    private enum Surroundings {
        case bare, singleQuotes, doubleQuotes, parentheses, backquotes, comment
    }

    private var surroundings: [Surroundings] = [.bare]
    private var previous: Unicode.Scalar = "\n"
    private var isEscaped = false

    /// Passes over `text`, which is part of the command.
    mutating func pass(_ text: String) {
        for scalar in text.unicodeScalars {
            if isEscaped {
                isEscaped = false
            } else {
                pass(scalar)
            }
            previous = scalar
        }
    }

    /// `value` as it must be written here.
    mutating func quoted(_ value: String) -> String {
        previous = "x"
        isEscaped = false
        switch surroundings[surroundings.count - 1] {
        case .singleQuotes:
            return Self.escaping(value) { $0 == "'" ? "'\\''" : nil }
        case .doubleQuotes:
            return Self.escaping(value) { "\\\"$`".unicodeScalars.contains($0) ? "\\\($0)" : nil }
        case .comment:
            return Self.escaping(value) { $0 == "\n" ? " " : nil }
        case .bare, .parentheses, .backquotes:
            if !value.isEmpty, value.unicodeScalars.allSatisfy(Self.isPlain) { return value }
            return "'" + Self.escaping(value) { $0 == "'" ? "'\\''" : nil } + "'"
        }
    }

    private mutating func pass(_ scalar: Unicode.Scalar) {
        switch (surroundings[surroundings.count - 1], scalar) {
        case (.singleQuotes, "'"), (.doubleQuotes, "\""), (.comment, "\n"), (.backquotes, "`"), (.parentheses, ")"):
            surroundings.removeLast()
        case (.singleQuotes, _), (.comment, _):
            break
        case (_, "\\"):
            isEscaped = true
        case (_, "`"):
            surroundings.append(.backquotes)
        case (.doubleQuotes, "("):
            if previous == "$" { surroundings.append(.parentheses) }
        case (_, "\""):
            surroundings.append(.doubleQuotes)
        case (.doubleQuotes, _):
            break
        case (_, "'"):
            surroundings.append(.singleQuotes)
        case (_, "("):
            surroundings.append(.parentheses)
        case (_, "#"):
            if " \t\n;&|(".unicodeScalars.contains(previous) { surroundings.append(.comment) }
        default:
            break
        }
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "@", "%", "+", "=", ":", ",", ".", "/", "-": true
        default: false
        }
    }

    private static func escaping(_ value: String, _ escape: (Unicode.Scalar) -> String?) -> String {
        value.unicodeScalars.map { escape($0) ?? String($0) }.joined()
    }
}
