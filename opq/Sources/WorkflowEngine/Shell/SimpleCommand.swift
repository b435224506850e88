/// The words of the simple command that the scanner reads, as far as they decide whether a shell evaluates an argument.
struct SimpleCommand: Equatable {
    /// The byte that ends the list of commands: a parenthesis or a backquote. `nil` for the whole text.
    let closer: UInt8?
    /// Whether no byte was read since the `$(`, so that another parenthesis begins arithmetic.
    private(set) var isFresh: Bool
    /// Whether the words are the elements of an array.
    let isList: Bool
    private var word: [UInt8] = []
    /// Whether a part of the word is quoted, so that it is no reserved word.
    private var isQuoted = false
    private(set) var isInWord = false
    /// The number of bytes of the operator of a redirection that was just read.
    private(set) var lastOperatorCount = 0
    private var isTarget = false
    /// Whether the operator is `>&` or `<&`.
    private var isDuplication = false
    private var bracketDepth = 0
    private var openCases = 0
    private var isConditional = false
    /// Whether the next word is the name of a function.
    private var namesFunction = false
    private var isCoprocess = false
    /// The name of the command. A zero in a word stands for a placeholder.
    private var name: String?
    private var argumentCount = 0
    /// The first arguments. The following values hold all that the other arguments decide.
    private var arguments: [String] = []
    private var hasVariableTest = false
    private var declares = false
    /// A variable that a shell evaluates, and that the command sets.
    private var evaluatedVariable: String?
    private var call: ShellCall?
    /// The command that runs the output of a substituted process as code.
    private var evaluatedInput: String?
    /// Whether the command only searches another command.
    private var isQuery = false

    /// Creates a command without words.
    ///
    /// - Parameter isList: Whether the words are the elements of an array.
    init(closer: UInt8?, isFresh: Bool = false, isList: Bool = false) {
        self.closer = closer
        self.isFresh = isFresh
        self.isList = isList
    }

    /// Whether a closing parenthesis after the last complete word ends a pattern of `case`.
    var endsPattern: Bool { openCases > 0 }

    /// Reads a byte of a word, or a blank. 0 stands for a placeholder.
    mutating func take(_ byte: UInt8, isQuoted: Bool) {
        isFresh = false
        if !isQuoted {
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"):
                // An index of an array may have blanks.
                guard name == nil, bracketDepth > 0, word.first != UInt8(ascii: "[") else { return endWord() }
            case UInt8(ascii: "<"), UInt8(ascii: ">"): return noteOperator(byte)
            case UInt8(ascii: "["): bracketDepth += 1
            case UInt8(ascii: "]"): bracketDepth = max(0, bracketDepth - 1)
            default: break
            }
        }
        if isQuoted, byte != 0 { self.isQuoted = true }
        isInWord = true
        lastOperatorCount = 0
        word.append(byte)
    }

    /// Reads a byte of the operator of a redirection.
    mutating func noteOperator(_ byte: UInt8) {
        // A number before the operator belongs to it.
        let isDescriptor =
            word.allSatisfy(\.isDigit) || word.first == UInt8(ascii: "{") && word.last == UInt8(ascii: "}")
        if isInWord, !isDescriptor { endWord() }
        let count = lastOperatorCount + 1
        forgetWord()
        (lastOperatorCount, isTarget, isDuplication) = (count, true, byte == UInt8(ascii: "&"))
    }

    /// Reads the end of the delimiter of a here-document, which the scanner reads.
    mutating func endDelimiter() { (isTarget, lastOperatorCount) = (false, 0) }

    private mutating func forgetWord() {
        (word, isQuoted, isInWord, bracketDepth, lastOperatorCount) = ([], false, false, 0, 0)
    }

    /// Reads the end of a word.
    mutating func endWord() {
        isFresh = false
        guard isInWord else { return }
        let (ended, isReserved) = (word, !isQuoted)
        let wasTarget = isTarget
        forgetWord()
        isTarget = false
        if wasTarget || isList { return }
        let text = String(decoding: ended, as: UTF8.self)
        if namesFunction {
            namesFunction = false
        } else if name == nil {
            takeName(ended, text, isReserved: isReserved)
        } else if isCoprocess, argumentCount == 0, isReserved, Self.reserved.contains(text) {
            forgetWords()
        } else if text == "in" && name == "case" && argumentCount > 0
            || text == "do" && name == "for" && argumentCount == 1
        {
            forgetWords()
        } else {
            takeArgument(text)
        }
        if text == "]]" { isConditional = false }
    }

    private mutating func takeName(_ word: [UInt8], _ text: String, isReserved: Bool) {
        if isReserved {
            switch text {
            case "case": openCases += 1
            case "esac":
                openCases = max(0, openCases - 1)
                return
            case "[[": isConditional = true
            case "function":
                namesFunction = true
                return
            case "coproc":
                isCoprocess = true
                return
            case _ where Self.reserved.contains(text): return
            default: break
            }
        }
        if Self.isAssignment(word) || Self.prefixes.contains(text) { return }
        if text.hasPrefix("-") {
            isQuery = isQuery || text == "-v" || text == "-V"
            return
        }
        name = text
        call = isQuery ? nil : ShellCall(text)
    }

    private mutating func takeArgument(_ text: String) {
        argumentCount += 1
        if arguments.count < 4 { arguments.append(text) }
        hasVariableTest = hasVariableTest || text == "-v"
        if text.hasPrefix("-") || text.hasPrefix("+"), text.contains(where: { "iaAn".contains($0) }) { declares = true }
        let variable = text.hasPrefix("-v") ? String(text.dropFirst(2)) : text
        if Self.variables.contains(variable) { evaluatedVariable = variable }
        if call == nil { call = isQuery ? nil : ShellCall(text) } else { call?.take(text) }
    }

    private mutating func forgetWords() {
        (name, argumentCount, arguments, hasVariableTest, declares) = (nil, 0, [], false, false)
        (evaluatedVariable, call, isQuery, isCoprocess, namesFunction) = (nil, nil, false, false, false)
    }

    /// Reads the end of the command.
    mutating func endCommand() {
        endWord()
        forgetWords()
        (isTarget, lastOperatorCount, isFresh) = (false, 0, false)
    }

    /// Reads an opening parenthesis. Returns whether it begins the elements of an array.
    mutating func open() -> Bool {
        isFresh = false
        if !isInWord, lastOperatorCount > 0 {
            // The substitution of a process is a word.
            (isTarget, lastOperatorCount) = (false, 0)
            take(UInt8(ascii: "$"), isQuoted: true)
            if let name, name == "." || name == "source" { evaluatedInput = name }
            return false
        }
        let isArray = word.last == UInt8(ascii: "=")
        if !isInWord { endCommand() } else { endWord() }
        forgetWords()
        return isArray
    }

    private static let reserved: Set<String> = [
        "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "!", "{", "}", "time",
    ]
    private static let prefixes: Set<String> = ["command", "builtin", "exec", "nohup", "env"]
    private static let evaluators: Set<String> = [
        "eval", "let", "read", "unset", "mapfile", "readarray", "getopts", "trap", "alias", "source", ".", "wait",
        "compgen",
    ]
    private static let declarations: Set<String> = ["declare", "typeset", "local", "export", "readonly"]
    private static let setters: Set<String> = [
        "for", "getopts", "mapfile", "printf", "read", "readarray", "select", "wait",
    ]
    private static let variables: Set<String> = [
        "BASHPID", "BASH_ENV", "BASH_SUBSHELL", "ENV", "EPOCHSECONDS", "HISTCMD", "LINENO", "OPTIND", "PROMPT_COMMAND",
        "PS0", "PS1", "PS2", "PS4", "RANDOM", "SECONDS", "SRANDOM",
    ]

    private static func isAssignment(_ word: [UInt8]) -> Bool { assignedName(word) != nil }

    /// The variable in a word such as `name=value`, `name+=value` or `name[index]=value`.
    private static func assignedName(_ word: [UInt8]) -> String? {
        let name = word.prefix(while: \.isInName)
        guard let first = name.first, !first.isDigit else { return nil }
        var rest = word.dropFirst(name.count)
        if rest.first == UInt8(ascii: "[") {
            guard let end = rest.lastIndex(of: UInt8(ascii: "]")) else { return nil }
            rest = rest[(end + 1)...]
        }
        if rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        return rest.first == UInt8(ascii: "=") ? String(decoding: name, as: UTF8.self) : nil
    }

    /// The reason why no placeholder may stand in the whole text that contains this command.
    var obstacleOfText: ShellObstacle? {
        var ended = self
        ended.endWord()
        guard let name = ended.name else { return nil }
        if ended.declares, Self.declarations.contains(name) { return .declaration }
        if name == "alias" { return .aliases }
        if let variable = ended.evaluatedVariable, Self.setters.contains(name) { return .variable(variable) }
        if let evaluatedInput = ended.evaluatedInput { return .codeFromInput(evaluatedInput) }
        if name == "." || name == "source", let file = ended.arguments.first,
            file.hasPrefix("/dev/") || file.hasPrefix("/proc/")
        {
            return .codeFromInput(name)
        }
        let startsProgram = ended.call?.name == name.lastPathComponent || Self.starters.contains(name)
        return ended.call.flatMap { startsProgram && $0.readsCode ? .codeFromInput($0.name) : nil }
    }

    /// Programs that run their arguments as a command.
    private static let starters: Set<String> = [
        "busybox", "chroot", "doas", "ionice", "nice", "nsenter", "setsid", "stdbuf", "sudo", "taskset", "timeout",
        "unshare",
    ]

    /// The reason why a placeholder in this command could be evaluated.
    ///
    /// - Parameter previous: The byte before the placeholder.
    func obstacle(after previous: UInt8) -> ShellObstacle? {
        if isConditional { return .conditional }
        if bracketDepth > 0, isInWord, word != [UInt8(ascii: "[")] || previous == UInt8(ascii: "[") { return .brackets }
        if isTarget { return isDuplication ? .duplication : nil }
        if let variable = Self.assignedName(word), Self.variables.contains(variable) { return .variable(variable) }
        guard let name, !isList else { return nil }
        if Self.evaluators.contains(name) { return .evaluated(by: name) }
        if Self.declarations.contains(name), !Self.isAssignment(word) { return .evaluated(by: name) }
        if let obstacle = Self.obstacle(ofName: name) { return obstacle }
        if name == "test" || name == "[", hasVariableTest { return .evaluated(by: "\(name) -v") }
        if name == "for" || name == "select", let variable = arguments.first, Self.variables.contains(variable) {
            return .variable(variable)
        }
        if name == "printf" {
            let isFormat =
                arguments.allSatisfy { $0 == "--" } || arguments.first == "-v" && arguments.count < 3
                || arguments.count == 1 && arguments.first?.hasPrefix("-v") == true
            if isFormat { return .format }
        }
        return call?.obstacle(in: String(decoding: word, as: UTF8.self))
    }

    /// The variable that is the name of the command, in capitals as in `$CC`. `nil` for other names, and for those of shells.
    var variableOfName: String? {
        guard var text = name?[...], text.popFirst() == "$" else { return nil }
        if text.first == "{", text.last == "}" { text = text.dropFirst().dropLast() }
        guard text.first?.isUppercase == true else { return nil }
        let isVariable = text.utf8.allSatisfy { $0.isInName } && text == text.uppercased()
        return isVariable && text != "SHELL" && text != "BASH" ? String(text) : nil
    }

    /// The obstacle of all arguments of a command whose name is not known before it runs.
    private static func obstacle(ofName name: String) -> ShellObstacle? {
        guard name != "[", name.isVariable, !name.hasPrefix("~/") else { return nil }
        if name == "\0" { return .evaluated(by: "a command that is an item") }
        let text = name.utf8
        // A file that the shell searches in no list of commands is no command of the shell.
        let slash = text.firstIndex(of: UInt8(ascii: "/")) ?? text.endIndex
        let isItemInFolder =
            text[..<slash].allSatisfy { $0 == UInt8(ascii: ".") || $0.isInName } && slash < text.endIndex
            && !text.contains { "$`*?[{~".utf8.contains($0) }
        return isItemInFolder ? nil : .name
    }
}
