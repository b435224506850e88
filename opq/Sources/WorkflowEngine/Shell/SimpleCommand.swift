/// The words of the simple command that the scanner reads, as far as they decide whether a shell evaluates an argument.
struct SimpleCommand: Equatable {
    /// The byte that ends the list of commands: a parenthesis or a backquote. `nil` for the whole text.
    let closer: UInt8?
    /// Whether no byte was read since the `$(`, so that another parenthesis begins arithmetic.
    private(set) var isFresh: Bool
    /// The complete words. Those before the name of the command are left out. A zero stands for a placeholder.
    private var words: [[UInt8]] = []
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

    /// Creates a command without words.
    init(closer: UInt8?, isFresh: Bool = false) {
        self.closer = closer
        self.isFresh = isFresh
    }

    /// Whether a closing parenthesis after the last complete word ends a pattern of `case`.
    var endsPattern: Bool { openCases > 0 }

    /// Reads a byte of a word, or a blank. 0 stands for a placeholder.
    mutating func take(_ byte: UInt8, isQuoted: Bool) {
        isFresh = false
        if !isQuoted {
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"): return endWord()
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
        if isInWord, !word.allSatisfy(\.isDigit) { endWord() }
        let count = lastOperatorCount + 1
        forgetWord()
        (lastOperatorCount, isTarget, isDuplication) = (count, true, byte == UInt8(ascii: "&"))
    }

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
        if wasTarget { return }
        let text = String(decoding: ended, as: UTF8.self)
        if words.isEmpty, isReserved {
            switch text {
            case "case": openCases += 1
            case "esac":
                openCases = max(0, openCases - 1)
                return
            case "[[": isConditional = true
            case _ where Self.reserved.contains(text): return
            default: break
            }
        }
        if text == "]]" { isConditional = false }
        if text == "in" && words.count >= 2 && texts[0] == "case"
            || text == "do" && words.count == 2 && texts[0] == "for"
        {
            words = []
            return
        }
        if words.isEmpty, Self.isAssignment(ended) || Self.prefixes.contains(text) { return }
        // The options of a word such as `command`, and all words of a command after the fourth, decide nothing.
        if words.count < 8 || ended.first == UInt8(ascii: "-") { words.append(ended) }
    }

    /// Reads the end of the command.
    mutating func endCommand() {
        endWord()
        (words, isTarget, lastOperatorCount, isFresh) = ([], false, 0, false)
    }

    /// Reads an opening parenthesis.
    mutating func open() {
        if !isInWord { endCommand() } else { endWord() }
        words = []
        isFresh = false
    }

    private static let reserved: Set<String> = [
        "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "!", "{", "}", "time", "coproc",
    ]
    private static let prefixes: Set<String> = ["command", "builtin", "exec", "nohup", "env"]
    private static let evaluators: Set<String> = [
        "eval", "let", "read", "unset", "mapfile", "readarray", "getopts", "trap", "alias", "source", ".", "wait",
        "compgen",
    ]
    private static let declarations: Set<String> = ["declare", "typeset", "local", "export", "readonly"]
    private static let variables: Set<String> = [
        "RANDOM", "SECONDS", "LINENO", "OPTIND", "HISTCMD", "PS1", "PS2", "PS4", "PROMPT_COMMAND", "ENV", "BASH_ENV",
    ]

    private static func isAssignment(_ word: [UInt8]) -> Bool {
        guard let equals = word.firstIndex(of: UInt8(ascii: "=")), equals > 0, !word[0].isDigit else { return false }
        return word[..<equals].allSatisfy { $0.isInName || $0 == UInt8(ascii: "+") }
    }

    private var texts: [String] { words.map { String(decoding: $0, as: UTF8.self) } }

    /// The words from the name of the command on.
    private var named: ArraySlice<String> { texts.drop { $0.hasPrefix("-") } }

    /// Whether the command declares an array, an integer or a reference.
    var declaresEvaluated: Bool {
        var ended = self
        ended.endWord()
        guard let name = ended.named.first, Self.declarations.contains(name) else { return false }
        return ended.named.dropFirst().contains { word in
            word.first.map { $0 == "-" || $0 == "+" } == true && word.contains { "iaAn".contains($0) }
        }
    }

    /// The reason why a placeholder in this command could be evaluated.
    ///
    /// - Parameter previous: The byte before the placeholder.
    func obstacle(after previous: UInt8) -> ShellObstacle? {
        if isConditional { return .conditional }
        if bracketDepth > 0, isInWord, word != [UInt8(ascii: "[")] || previous == UInt8(ascii: "[") { return .brackets }
        if isTarget, isDuplication { return .duplication }
        if let equals = word.firstIndex(of: UInt8(ascii: "=")) {
            let name = String(decoding: word[..<equals], as: UTF8.self)
            if Self.variables.contains(name) { return .variable(name) }
        }
        let named = self.named
        guard let name = named.first else { return nil }
        let arguments = named.dropFirst()
        let hasValue = word.contains(UInt8(ascii: "="))
        if Self.evaluators.contains(name) { return .evaluated(by: name) }
        if Self.declarations.contains(name), !hasValue { return .evaluated(by: name) }
        if name == "\0", !isTarget { return .evaluated(by: "a command that is an item") }
        if name == "test" || name == "[", arguments.contains("-v") { return .evaluated(by: "\(name) -v") }
        if name == "for" || name == "select", let variable = arguments.first, Self.variables.contains(variable) {
            return .variable(variable)
        }
        if name == "printf" {
            let isFormat =
                arguments.allSatisfy { $0 == "--" } || arguments.first == "-v" && arguments.count < 3
                || arguments.count == 1 && arguments.first?.hasPrefix("-v") == true
            if isFormat { return .format }
        }
        return shellCode(in: named)
    }

    /// The obstacle of an argument that is code for another shell, as after `sh -c`.
    private func shellCode(in words: ArraySlice<String>) -> ShellObstacle? {
        guard let index = words.firstIndex(where: { Shell.posixNames.contains($0.lastPathComponent) }) else {
            return nil
        }
        let arguments = words[(index + 1)...]
        let isOption = { (word: String) in word.hasPrefix("-") || word.hasPrefix("+") || word.hasPrefix("\0") }
        guard arguments.contains(where: { isOption($0) && ($0.contains("c") || $0.contains("\0")) }) else { return nil }
        var previous = ""
        for word in arguments {
            if !isOption(word), !previous.hasSuffix("o") { return nil }
            previous = isOption(word) ? word : ""
        }
        return .evaluated(by: "\(words[index].lastPathComponent) -c")
    }
}
