/// The form of a command: whether it needs a shell.
///
/// A simple command is a program with plain words and quoted variables of the item. It runs without a shell, which saves more
/// than half of the time of a small command. A shell would run it in the same way.
enum CommandForm: Equatable {
    /// The words of a simple command.
    case simple([String])
    case shell

    /// Classifies a command.
    ///
    /// - Parameter variables: The values of the variables that the file sets. The words may have them in the form `"$NAME"`.
    init(_ command: String, variables: [String: String]) {
        var scanner = WordScanner(command, variables: variables)
        guard let words = scanner.words(), let name = words.first, !name.isEmpty, !Self.builtins.contains(name),
            // The search for the program uses the variables of opq, and not those of the command.
            name.contains("/") || variables["PATH"] == nil
        else {
            self = .shell
            return
        }
        self = .simple(words)
    }

    /// Commands that the shell runs itself, with another effect than a program of the same name, and reserved words.
    private static let builtins: Set<String> = [
        ".", ":", "alias", "bg", "bind", "break", "builtin", "caller", "case", "cd", "command", "compgen", "complete",
        "continue", "coproc", "declare", "dirs", "disown", "do", "done", "elif", "else", "enable", "esac", "eval",
        "exec",
        "exit", "export", "fc", "fg", "fi", "for", "function", "getopts", "hash", "help", "history", "if", "in", "jobs",
        "kill", "let", "local", "logout", "mapfile", "popd", "pushd", "read", "readarray", "readonly", "return",
        "select", "set", "shift", "shopt", "source", "suspend", "then", "time", "times", "trap", "type", "typeset",
        "ulimit", "umask", "unalias", "unset", "until", "wait", "while",
    ]
}

/// A reader of words that consist of plain characters and quoted variables.
private struct WordScanner {
    private let bytes: [UInt8]
    private let variables: [String: String]
    private var index = 0

    init(_ text: String, variables: [String: String]) {
        bytes = Array(text.utf8)
        self.variables = variables
    }

    /// Returns the words. `nil` if the text contains another construct.
    mutating func words() -> [String]? {
        var words: [String] = []
        var word: String?
        while index < bytes.count {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"):
                // A line end is a blank only at the end of the text.
                if byte == UInt8(ascii: "\n"), bytes[index...].contains(where: { $0 != byte }) { return nil }
                if let ended = word { words.append(ended) }
                word = nil
                index += 1
            case UInt8(ascii: "\""):
                guard let value = quoted() else { return nil }
                word = (word ?? "") + value
            case _ where Self.isPlain(byte) || byte == UInt8(ascii: "=") && !words.isEmpty:
                let start = index
                while index < bytes.count,
                    Self.isPlain(bytes[index]) || bytes[index] == UInt8(ascii: "=") && !words.isEmpty
                {
                    index += 1
                }
                word = (word ?? "") + String(decoding: bytes[start..<index], as: UTF8.self)
            default: return nil
            }
        }
        if let ended = word { words.append(ended) }
        return words
    }

    /// Returns the text between quotation marks, in which variables are replaced.
    private mutating func quoted() -> String? {
        index += 1
        var text = ""
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                index += 1
                return text
            case UInt8(ascii: "$"):
                guard let value = variable() else { return nil }
                text += value
            case UInt8(ascii: "\\"), UInt8(ascii: "`"), 0x80...: return nil
            default:
                text.unicodeScalars.append(Unicode.Scalar(bytes[index]))
                index += 1
            }
        }
        return nil
    }

    private mutating func variable() -> String? {
        index += 1
        let hasBraces = index < bytes.count && bytes[index] == UInt8(ascii: "{")
        if hasBraces { index += 1 }
        let start = index
        while index < bytes.count, bytes[index].isInName { index += 1 }
        guard let value = variables[String(decoding: bytes[start..<index], as: UTF8.self)] else { return nil }
        guard hasBraces else { return value }
        guard index < bytes.count, bytes[index] == UInt8(ascii: "}") else { return nil }
        index += 1
        return value
    }

    /// Whether a byte stands for itself in every shell.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte.isInName || byte >= 0x80 || "./-+,:@%".utf8.contains(byte)
    }
}

extension PlannedOperation {
    /// The program and the arguments that run the command. A program without a slash is searched in `PATH`.
    ///
    /// If a program that stands in place of a shell is not found, ``shellArguments`` give the shell's message and status.
    public var arguments: [String] {
        if let program { return program }
        if case .posix = settings.shell, case .simple(let words) = CommandForm(command, variables: variables) {
            return words
        }
        return shellArguments
    }

    /// The shell and the arguments that run the command by the shell.
    public var shellArguments: [String] { settings.shell.arguments(for: command) }
}
