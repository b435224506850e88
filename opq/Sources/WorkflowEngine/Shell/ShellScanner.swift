/// Follows a shell command from left to right, and knows at each point where in the command that is.
///
/// A plain value that takes one character at a time. It knows the grammar of `sh` as far as quoting depends on it:
/// quotes, substitutions, arithmetic, here-documents, comments, and the parentheses of `case`. Where `dash` and `bash` read
/// a command differently, and where it does not understand one, it says so, and from there on always.
struct ShellScanner {
    /// A construct that has been opened and not closed.
    enum Frame: Equatable {
        case commands(ShellCommands)
        case singleQuotes
        case doubleQuotes
        case dollarQuotes
        case comment
        /// `${…}`; between quotation marks an apostrophe in it need not be a quote.
        case parameter(isQuoted: Bool)
        /// `$((…))` with this number of parentheses open in it; closing: the first of the last two has been read.
        case arithmetic(depth: Int, isClosing: Bool)
        case hereDocument(HereDocument)
    }

    var frames: [Frame] = [.commands(ShellCommands(closer: .none))]
    var isEscaped = false
    /// Whether the character before is a `$` that may begin something.
    var followsDollar = false
    /// Whether the backslash before is behind such a `$`.
    var isAfterDollar = false
    /// In backquotes the shell removes one level of backslashes before it reads the command there.
    private var isEscapedInBackquotes = false
    private var unclear: ShellObstacle?

    /// The innermost construct that is open.
    var top: Frame {
        get { frames[frames.count - 1] }
        set { frames[frames.count - 1] = newValue }
    }

    /// Where a value would stand that is put here.
    ///
    /// - Throws: Why it could not be kept from being code, or from becoming something else.
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

    /// The here-document is one of which shells may see different ends.
    static let unclearDelimiter = "a line of a here-document that begins with its delimiter"

    /// In `$(…)`, bash 5.2 may lose the separator between commands behind a here-document.
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

    /// The obstacles that quotes do not remove: arithmetic, `${…}`, which may hold arithmetic, and an argument that a shell
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
                // The output of a command in a substitution is not the item. The arguments of that command are.
                if commands.closer != .parenthesis { return nil }
                isInWord = false
            case .comment, .hereDocument: isInWord = false
            case .singleQuotes, .doubleQuotes, .dollarQuotes: break
            }
        }
        return nil
    }

    /// Passes over a value that is put here.
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

    /// Passes over text of the command.
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

    /// Gives up: from here on, a value is refused.
    mutating func becomeUnclear(_ construct: String) { unclear = unclear ?? .unclear(construct) }
}
