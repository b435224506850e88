/// The words of a simple command so far, which decide which of its arguments a shell evaluates.
///
/// The value reads one word at a time, without quotes. It knows the commands of `sh` and `bash` that use an argument as code,
/// as arithmetic, or as a variable whose index is arithmetic. It does not know how other commands use their arguments.
struct ShellArguments: Equatable {
    private enum Stage: Equatable {
        /// The next word is the name of the command or an assignment.
        case name
        /// The remaining arguments are data.
        case data
        /// The remaining arguments are evaluated.
        case all(ShellObstacle)
        /// The next argument other than `--` is evaluated, and the others are data.
        case next(ShellObstacle)
        /// The arguments of `test`. The argument of `-v` is evaluated.
        case test(String)
        /// The next words are options of `printf`, and its format.
        case format
        /// The next word is the variable of `printf -v`.
        case formatVariable
        /// The next words are options of a shell, or the file that the shell runs.
        case shell(String)
        /// The next word is the argument of a shell's option.
        case shellOption(String)
        /// The next words are variables that are declared or exported, with or without values.
        case declaration(String)
    }

    /// The text that represents an item in a word.
    static let item = "\0"
    /// The text that represents any other expansion in a word.
    static let expansion = "$"

    private var stage = Stage.name

    /// Creates the state at the start of a command.
    init() {}

    /// Creates the state for the words of a `for` loop over a variable.
    init(loopOver variable: String) {
        stage = Self.evaluatedVariables.contains(variable) ? .all(.variable(variable)) : .data
    }

    /// Returns the reason why an item cannot follow this part of a word. `nil` if the item can. The word must not be a
    /// redirection's.
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

    /// Returns whether a word with this beginning may assign to an element of an array here.
    func mayAssign(_ word: String) -> Bool {
        switch stage {
        case .name, .declaration: Self.isName(word.prefix { $0 != "[" })
        default: false
        }
    }

    /// Reads a word, without its quotes.
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
        // An option here belongs to `command`, `builtin` or `time`.
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

    /// The variables that are integers in bash by default, and the variables whose values a shell expands or runs.
    private static let evaluatedVariables: Set<String> = [
        "BASHPID", "EUID", "HISTCMD", "OPTIND", "PPID", "RANDOM", "SRANDOM", "UID",
        "BASH_ENV", "ENV", "PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS3", "PS4",
    ]

    /// Returns the name of the variable to which a word assigns. An index is not part of the name.
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
    /// Returns whether a command declares a variable with an option that makes bash evaluate its values: `-a`, `-A`, `-i` or
    /// `-n`.
    ///
    /// The function checks all words at any place, because in a function or a loop the assignment may come before the
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
