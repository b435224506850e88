/// A scanner that reads a shell command from left to right, and knows the kind of place at each point.
///
/// The scanner reads one character at a time. It knows the grammar of `sh` as far as quoting depends on it: quotes,
/// substitutions, arithmetic, here-documents, comments, and the parentheses of `case`. If `dash` and `bash` read a command
/// differently, or if the scanner does not understand the command, the scanner refuses all later values.
struct ShellScanner {
    /// A construct that is open.
    enum Frame: Equatable {
        case commands(ShellCommands)
        case singleQuotes
        case doubleQuotes
        case dollarQuotes
        case comment
        /// The construct `${…}`. Between quotation marks, an apostrophe in it may be plain text.
        case parameter(isQuoted: Bool)
        /// The construct `$((…))` with the number of open parentheses in it. `isClosing` states that the first of the last
        /// two parentheses was read.
        case arithmetic(depth: Int, isClosing: Bool)
        case hereDocument(HereDocument)
    }

    var frames: [Frame] = [.commands(ShellCommands(closer: .none))]
    var isEscaped = false
    /// Whether the preceding character is a `$` that may begin an expansion.
    var followsDollar = false
    /// Whether the preceding backslash follows such a `$`.
    var isAfterDollar = false
    /// Whether the preceding backslash is one that the shell removes in backquotes, before it reads the command there.
    private var isEscapedInBackquotes = false
    private var unclear: ShellObstacle?

    /// The innermost open construct.
    var top: Frame {
        get { frames[frames.count - 1] }
        set { frames[frames.count - 1] = newValue }
    }

    /// The place of a value that is inserted here.
    ///
    /// - Throws: The reason why the value could be run as code or could change.
    var place: ShellPlace {
        get throws(ShellObstacle) {
            if let unclear { throw unclear }
            if isBehindDocumentInSubstitution { throw .unclear("a here-document in $(…)") }
            if let obstacle { throw obstacle }
            switch top {
            case .singleQuotes: return .singleQuotes
            case .comment: return .comment
            case .dollarQuotes: throw .dollarQuotes
            case .parameter: throw .parameterExpansion
            case .arithmetic: throw .arithmetic
            case .hereDocument(let document) where document.isQuoted: throw .quotedHereDocument
            case .commands(let commands) where commands.isReadingDelimiter: throw .hereDocumentDelimiter
            case _ where isEscaped || isEscapedInBackquotes: throw .afterBackslash
            case .commands: return .word
            case .doubleQuotes: return .doubleQuotes
            case .hereDocument: return .hereDocument
            }
        }
    }

    /// A description of a here-document whose end may differ between shells.
    static let unclearDelimiter = "a line of a here-document that begins with its delimiter"

    /// Whether a here-document was read in the current `$(…)`, because bash 5.2 may then lose the separator between commands.
    private var isBehindDocumentInSubstitution: Bool {
        var hasHereDocument = false
        for frame in frames.reversed() {
            switch frame {
            case .hereDocument: return false
            case .commands(let commands):
                hasHereDocument = hasHereDocument || commands.hasHereDocument
                if hasHereDocument, commands.closer == .substitution { return true }
            default: break
            }
        }
        return false
    }

    /// An obstacle that quotes do not remove: arithmetic, `${…}`, which may contain arithmetic, or an argument that a shell
    /// evaluates.
    private var obstacle: ShellObstacle? {
        var isInWord = true
        for frame in frames.reversed() {
            switch frame {
            case .arithmetic: return .arithmetic
            case .parameter: return .parameterExpansion
            case .commands(let commands):
                if commands.mayBeArithmetic { return .arithmetic }
                if isInWord, let obstacle = commands.obstacle { return obstacle }
                // An evaluated argument may contain the output of a command that receives the item. But the item itself is
                // not evaluated there.
                if commands.closer != .parenthesis { return nil }
                isInWord = false
            case .comment, .hereDocument: isInWord = false
            case .singleQuotes, .doubleQuotes, .dollarQuotes: break
            }
        }
        return nil
    }

    /// Reads a value that is inserted here.
    mutating func passValue() {
        (isEscaped, followsDollar, isEscapedInBackquotes) = (false, false, false)
        let index = top == .singleQuotes || top == .doubleQuotes ? frames.count - 2 : frames.count - 1
        switch frames[index] {
        case .commands(var commands):
            commands.takeItem()
            frames[index] = .commands(commands)
        case .hereDocument(var document):
            if case .unclear = document.takeValue() { becomeUnclear(Self.unclearDelimiter) }
            frames[index] = .hereDocument(document)
        default: break
        }
    }

    /// Reads text of the command.
    mutating func pass(_ text: String) {
        for scalar in text.unicodeScalars where unclear == nil {
            if isInBackquotes { passInBackquotes(scalar) } else { read(scalar) }
        }
    }

    // MARK: - Backquotes

    private var isInBackquotes: Bool {
        frames.contains { if case .commands(let commands) = $0 { commands.closer == .backquote } else { false } }
    }

    private mutating func passInBackquotes(_ scalar: Unicode.Scalar) {
        if isEscapedInBackquotes {
            isEscapedInBackquotes = false
            switch scalar {
            case "`": becomeUnclear("backquotes in backquotes")
            case "\"": becomeUnclear("\\\" in backquotes")
            case "$", "\\": read(scalar)
            default:
                read("\\")
                read(scalar)
            }
        } else if scalar == "\\" {
            isEscapedInBackquotes = true
        } else if scalar == "`" {
            if top == .comment { frames.removeLast() }
            guard case .commands(let commands) = top, commands.closer == .backquote, commands.hereDocuments.isEmpty
            else {
                return becomeUnclear("a backquote within quotes")
            }
            followsDollar = false
            frames.removeLast()
        } else {
            read(scalar)
        }
    }

    /// Makes the scanner refuse all later values, because of the named construct.
    mutating func becomeUnclear(_ construct: String) { unclear = unclear ?? .unclear(construct) }
}
