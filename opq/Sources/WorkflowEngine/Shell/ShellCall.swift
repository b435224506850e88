/// A program in a command that starts a shell, and its arguments as far as they decide which of them is code.
struct ShellCall: Equatable {
    private enum Stage: Equatable {
        case options
        /// The code or the script was given. The other arguments are parameters.
        case parameters
        /// An option whose meaning is unknown was given.
        case unknown
    }

    /// The name of the program, without its directory.
    let name: String
    private var stage = Stage.options
    /// The number of following words that belong to options.
    private var owed = 0
    private var endsOptions = false
    private var hasCode = false
    private var readsInput = false
    private var operands = 0

    /// Creates a call without arguments. `nil` if the program starts no shell.
    init?(_ word: String) {
        let name = word.lastPathComponent
        let plain = String(name.filter { !"${}".contains($0) })
        var stem = name[...]
        while let last = stem.last, last.isNumber || last == "." || last == "-" { stem.removeLast() }
        guard
            Self.shells.contains(String(stem)) || Self.runners.contains(name) || Self.evaluators.contains(name)
                || plain == "SHELL" || plain == "BASH"
        else { return nil }
        self.name = name
    }

    private static let shells = Shell.posixNames.union(["ash", "csh", "fish", "rbash", "tcsh", "yash"])
    /// Programs that give the argument of an option `-c` to a shell.
    private static let runners: Set<String> = ["flock", "runuser", "script", "su"]
    /// Programs that give their arguments to a shell.
    private static let evaluators: Set<String> = ["mosh", "parallel", "rsh", "slogin", "ssh", "watch"]
    private static let flags: Set<String> = [
        "--login", "--noediting", "--noprofile", "--norc", "--posix", "--restricted", "--verbose",
    ]

    private var isRunner: Bool { Self.runners.contains(name) }
    private var isEvaluator: Bool { Self.evaluators.contains(name) }

    /// Reads an argument. A zero stands for a placeholder.
    mutating func take(_ word: String) {
        let isOption = word.hasPrefix("-") || word.hasPrefix("+")
        if isRunner || isEvaluator {
            if isOption { hasCode = hasCode || word.contains("c") || word.isVariable } else { operands += 1 }
            return
        }
        guard stage == .options else { return }
        if owed > 0 {
            owed -= 1
        } else if isOption, !endsOptions {
            takeOption(word)
        } else if hasCode {
            stage = .parameters
        } else if word.isVariable, !word.contains("/") {
            (stage, readsInput) = (.unknown, !word.contains("\0"))
        } else if let inner = ShellCall(word) {
            self = inner
        } else {
            (stage, readsInput) = (.parameters, readsInput || word.hasPrefix("/dev/") || word.hasPrefix("/proc/"))
        }
    }

    private mutating func takeOption(_ word: String) {
        if word.isVariable {
            (stage, readsInput) = (.unknown, true)
        } else if word == "-" || word == "--" {
            endsOptions = true
        } else if word.hasPrefix("--") {
            if word == "--rcfile" || word == "--init-file" {
                owed = 1
            } else if !Self.flags.contains(word) {
                (stage, readsInput) = (.unknown, true)
            }
        } else {
            owed = word.count { $0 == "o" || $0 == "O" }
            hasCode = hasCode || word.contains("c")
            readsInput = readsInput || word.contains("s")
        }
    }

    /// The reason why a placeholder after the beginning of a word could be code.
    func obstacle(in word: String) -> ShellObstacle? {
        let isOption = word.hasPrefix("-") || word.hasPrefix("+")
        if isEvaluator { return .evaluated(by: name) }
        if isRunner { return hasCode || isOption ? .evaluated(by: "\(name) -c") : nil }
        let isCode =
            switch stage {
            case .options: owed > 0 || hasCode || isOption || word.isVariable && !word.contains("/")
            case .parameters: false
            case .unknown: true
            }
        return isCode ? .evaluated(by: "\(name) -c") : nil
    }

    /// Whether the program may read code from standard input, if no other argument follows.
    var readsCode: Bool {
        if isEvaluator { return name != "watch" && name != "parallel" && operands <= 1 }
        if isRunner { return name != "flock" && !hasCode }
        return readsInput || stage == .options && !hasCode
    }
}

extension String {
    /// Whether the word of a command has another value than its text: with a placeholder, an expansion or a pattern.
    var isVariable: Bool { utf8.contains { $0 == 0 || "$`*?[{~".utf8.contains($0) } }
}
