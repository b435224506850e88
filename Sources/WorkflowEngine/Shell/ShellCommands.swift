/// A list of shell commands, as far as it has been read: the whole, or what is between parentheses or backquotes.
///
/// It keeps what is needed to tell a `)` that ends the list from one behind a pattern of `case`, a `#` that begins a comment
/// from others, and which here-documents begin at the end of the line.
struct ShellCommands: Equatable {
    /// What ends the list.
    enum Closer: Equatable { case none, parenthesis, substitution, backquote }

    private enum CasePart: Equatable {
        /// Behind `case`, and behind the word that follows it.
        case subject(isRead: Bool)
        case pattern(isFirst: Bool)
        case body
    }

    /// What a character means for what is around the list.
    enum Step: Equatable {
        case read
        case open(ShellScanner.Frame)
        /// The end of the line: here-documents begin.
        case lineEnd([HereDocument])
        /// A parenthesis that ends the list.
        case close
        case unclear(String)
    }

    let closer: Closer
    /// Whether `bash` takes it for arithmetic: it begins with `((`, or is within such.
    var mayBeArithmetic = false
    /// Whether nothing of it has been read.
    private(set) var isFresh = true
    /// The here-documents that begin at the next end of a line.
    private(set) var hereDocuments: [HereDocument] = []
    private var opening: HereDocument.Opening?
    /// The word so far: without quotes it may be a reserved one.
    private var word: String?
    private var isWordQuoted = false
    /// Whether the next word is that of a redirection.
    private var isRedirecting = false
    /// Whether the next word may be a reserved one.
    private var isAtCommand = true
    private var cases: [CasePart] = []
    /// The operator of one character right before, of which two may be another.
    private var previous: Unicode.Scalar?

    /// A list that has just been opened.
    init(closer: Closer, mayBeArithmetic: Bool = false) {
        self.closer = closer
        self.mayBeArithmetic = mayBeArithmetic
    }

    /// Whether what comes next belongs to the delimiter of a here-document.
    var isReadingDelimiter: Bool { opening != nil }
    /// Whether the list may end here.
    var isComplete: Bool { cases.isEmpty && opening == nil }

    private static let separators: Set<String> = [
        "if", "then", "else", "elif", "do", "while", "until", "!", "{", "time",
    ]

    /// Passes over a part of a word that is quoted, or that the shell replaces by something.
    mutating func takeValue() {
        (isFresh, previous) = (false, nil)
        word = word ?? ""
        isWordQuoted = true
    }

    /// Adds here-documents of a list in parentheses within this one.
    mutating func add(_ documents: [HereDocument]) { hereDocuments += documents }

    /// Continues behind parentheses within this list.
    mutating func passParentheses() { (isAtCommand, previous) = (true, nil) }

    /// Passes over a character that is neither escaped nor part of a substitution.
    mutating func pass(_ scalar: Unicode.Scalar) -> Step {
        if let step = passOpening(scalar) { return step }
        let before = previous
        (previous, isFresh) = (nil, false)
        switch scalar {
        case "'":
            takeValue()
            return .open(.singleQuotes)
        case "\"":
            takeValue()
            return .open(.doubleQuotes)
        case "#" where word == nil:
            return .open(.comment)
        case " ", "\t", "\n", ";", "&", "|", "(", ")", "<", ">":
            if let step = endWord() { return step }
            previous = scalar
            return passOperator(scalar, after: before)
        default:
            word = (word ?? "")
            word?.unicodeScalars.append(scalar)
            return .read
        }
    }

    private mutating func passOperator(_ scalar: Unicode.Scalar, after before: Unicode.Scalar?) -> Step {
        switch scalar {
        case "\n":
            isAtCommand = true
            guard !hereDocuments.isEmpty else { return .read }
            defer { hereDocuments = [] }
            return .lineEnd(hereDocuments)
        case ";", "&":
            // Two file descriptors, as in `2>&1`.
            if scalar == "&", before == "<" || before == ">" { return .read }
            if before == ";", cases.last == .body { cases[cases.count - 1] = .pattern(isFirst: true) }
            isAtCommand = true
        case "|":
            if before != ">" { isAtCommand = true }
        case "(":
            if cases.last == .pattern(isFirst: true) { return .read }
            return .open(.commands(ShellCommands(closer: .parenthesis, mayBeArithmetic: mayBeArithmetic)))
        case ")":
            guard case .pattern = cases.last else { return .close }
            cases[cases.count - 1] = .body
            isAtCommand = true
        case "<", ">":
            isRedirecting = true
            guard scalar == "<", before == "<" else { return .read }
            if mayBeArithmetic { return .unclear("<< in double parentheses") }
            if closer == .backquote { return .unclear("a here-document in backquotes") }
            previous = nil
            opening = HereDocument.Opening()
        default: break
        }
        return .read
    }

    /// Passes over a character of the delimiter of a here-document; `nil` when it is one behind it.
    private mutating func passOpening(_ scalar: Unicode.Scalar) -> Step? {
        guard let step = opening?.pass(scalar) else { return nil }
        switch step {
        case .read: return .read
        case .unclear: return .unclear("the delimiter of a here-document")
        case .isString:
            opening = nil
            return .read
        case .end(let document):
            opening = nil
            isRedirecting = false
            hereDocuments.append(document)
            return nil
        }
    }

    private mutating func endWord() -> Step? {
        guard let text = word else { return nil }
        let reserved = isWordQuoted ? nil : text
        (word, isWordQuoted) = (nil, false)
        if isRedirecting {
            isRedirecting = false
            return nil
        }
        switch cases.last {
        case .subject(isRead: false):
            cases[cases.count - 1] = .subject(isRead: true)
        case .subject(isRead: true):
            guard reserved == "in" else { return .unclear("a case without in") }
            cases[cases.count - 1] = .pattern(isFirst: true)
        case .pattern(isFirst: true) where reserved == "esac":
            cases.removeLast()
            isAtCommand = false
        case .pattern:
            cases[cases.count - 1] = .pattern(isFirst: false)
        case .body, nil:
            endCommandWord(reserved)
        }
        return nil
    }

    private mutating func endCommandWord(_ word: String?) {
        guard isAtCommand else { return }
        isAtCommand = false
        switch word {
        case "case": cases.append(.subject(isRead: false))
        case "esac" where cases.last == .body: cases.removeLast()
        case let word?: isAtCommand = Self.separators.contains(word)
        case nil: break
        }
    }
}
