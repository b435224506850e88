/// The words of a simple command so far, as far as they decide which of its arguments a shell evaluates.
///
/// A plain value that takes one word at a time, without its quotes. It knows the commands of `sh` and `bash` that take an
/// argument for code, for arithmetic, or for a variable whose index is arithmetic. It does not know how
/// other commands use their arguments.
struct ShellArguments: Equatable {
    private enum Stage: Equatable {
        /// The name of the command comes, or an assignment.
        case name
        /// The remaining arguments are data.
        case data
        /// The remaining arguments are evaluated.
        case all(ShellObstacle)
        /// The next argument that is no `--` is evaluated, and the others are data.
        case next(ShellObstacle)
        /// Arguments of `test`: that of `-v` is evaluated.
        case test(String)
        /// Options of `printf` come, and its format.
        case format
        /// The variable of `printf -v`.
        case formatVariable
        /// Options of a shell, or the file it runs.
        case shell(String)
        /// The argument of an option of a shell.
        case shellOption(String)
        /// Variables that are declared or exported, with values or without.
        case declaration(String)
    }

    /// Stands for an item in the text of a word.
    static let item = "\0"
    /// Stands for any other text that the shell replaces.
    static let expansion = "$"

    private var stage = Stage.name

    /// A command of which nothing has been read.
    init() {}

    /// The words behind `for` and the name of a variable.
    init(loopOver variable: String) {
        stage = Self.evaluatedVariables.contains(variable) ? .all(.variable(variable)) : .data
    }

    /// Why an item cannot stand behind this part of a word, which is not a redirection's; `nil` if it can.
    func obstacle(behind word: String) -> ShellObstacle? {
        switch stage {
        case .data, .test, .shell, .shellOption: return nil
        case .all(let obstacle), .next(let obstacle): return obstacle
        case .format, .formatVariable: return .format
        case .name:
            guard let name = Self.assignedName(in: word), Self.evaluatedVariables.contains(name) else { return nil }
            return .variable(name)
        case .declaration(let command):
            guard let name = Self.assignedName(in: word) else { return .evaluated(by: command) }
            return Self.evaluatedVariables.contains(name) ? .variable(name) : nil
        }
    }

    /// Whether a word that begins so may assign to an element of an array here.
    func mayAssign(_ word: String) -> Bool {
        switch stage {
        case .name, .declaration: Self.isName(word.prefix { $0 != "[" })
        default: false
        }
    }

    /// Passes over a word, without its quotes.
    mutating func pass(_ word: String) {
        switch stage {
        case .data, .all, .declaration: break
        case .name: passName(word)
        case .next: if word != "--" { stage = .data }
        case .test(let command): if word == "-v" { stage = .all(.evaluated(by: "\(command) -v")) }
        case .format: passFormat(word)
        case .formatVariable: stage = .format
        case .shell(let shell): passShellWord(word, shell)
        case .shellOption(let shell): stage = .shell(shell)
        }
    }

    private mutating func passName(_ word: String) {
        // An option is that of `command`, `builtin` or `time`.
        if Self.assignedName(in: word) != nil || word.hasPrefix("-") || word == "command" || word == "builtin" {
            return
        }
        guard word.contains("/") || !word.contains(Self.item) else { return stage = .all(.unknownCommand) }
        stage =
            switch word {
            case "let", "read", "unset", "mapfile", "readarray", "getopts", "wait": .all(.evaluated(by: word))
            case "eval", "trap", "alias", "bind", "compgen", "complete": .all(.code(of: word))
            case "source", ".": .next(.sourced)
            case "test", "[": .test(word)
            case "printf": .format
            case "declare", "typeset", "local", "readonly", "export": .declaration(word)
            default: .data
            }
        let file = String(word.split(separator: "/").last ?? "")
        if ["sh", "bash", "dash", "ash", "ksh", "zsh"].contains(file) { stage = .shell(file) }
    }

    private mutating func passFormat(_ word: String) {
        switch word {
        case "-v": stage = .formatVariable
        case "--": stage = .next(.format)
        default: if !word.hasPrefix("-v") { stage = .data }
        }
    }

    private mutating func passShellWord(_ word: String, _ shell: String) {
        if word.hasPrefix(Self.item) {
            // The item may be an option.
            stage = .all(.unknownCommand)
        } else if word.hasPrefix("--") {
            return
        } else if word.hasPrefix("-") || word.hasPrefix("+") {
            if word.contains("c") {
                stage = .next(.code(of: "\(shell) -c"))
            } else if word.hasSuffix("o") || word.hasSuffix("O") {
                stage = .shellOption(shell)
            }
        } else {
            stage = .data
        }
    }

    // MARK: - Variables

    /// Variables that are integers in bash from its start, and those whose values a shell expands or runs.
    private static let evaluatedVariables: Set<String> = [
        "BASHPID", "EUID", "HISTCMD", "OPTIND", "PPID", "RANDOM", "SRANDOM", "UID",
        "BASH_ENV", "ENV", "PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS3", "PS4",
    ]

    /// The variable that a word assigns to, if it begins with an assignment. An index counts as part of no name.
    private static func assignedName(in word: String) -> String? {
        guard let sign = word.firstIndex(of: "=") else { return nil }
        var name = word[..<sign]
        if name.hasSuffix("+") { name.removeLast() }
        if name.hasSuffix("]"), let bracket = name.firstIndex(of: "[") { name = name[..<bracket] }
        return isName(name) ? String(name) : nil
    }

    private static func isName(_ text: some StringProtocol) -> Bool {
        guard let first = text.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else {
            return false
        }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }
}

extension ShellArguments {
    /// Whether a command declares a variable with an option that makes bash evaluate its values: `-a`, `-A`, `-i` or `-n`.
    ///
    /// It looks at the words alone, wherever they stand. In a function or a loop, the assignment may come before the
    /// declaration.
    static func declaresEvaluated(_ command: String) -> Bool {
        var isDeclaration = false
        for word in command.split(whereSeparator: { $0.isWhitespace || ";&|(){}<>`'\"\\".contains($0) }) {
            if ["declare", "typeset", "local", "readonly"].contains(word) {
                isDeclaration = true
            } else if isDeclaration, word.hasPrefix("-") || word.hasPrefix("+") || word.hasPrefix("$") {
                if word.hasPrefix("$") || word.contains(where: { "aAin".contains($0) }) { return true }
            } else {
                isDeclaration = false
            }
        }
        return false
    }
}
