/// A list of shell commands, as far as it has been read: the whole command, or the part in parentheses or backquotes.
///
/// It distinguishes a `)` that ends the list from one behind a pattern of `case`, and a `#` that begins a comment from others. It
/// knows which here-documents begin at the end of the line, and which command the current word belongs to.
struct ShellCommands: Equatable {
    /// The end of the list.
    enum Closer: Equatable { case none, parenthesis, substitution, backquote }

    enum CasePart: Equatable {
        /// Behind `case`, and behind the word that follows it.
        case subject(isRead: Bool)
        case pattern(isFirst: Bool)
        case body
    }

    /// The part of a loop before its words, or of a function before its body.
    enum Head: Equatable {
        /// Behind `for` or `select`, and behind the variable that follows it.
        case loop
        case variable
        /// Behind `function`.
        case function
    }

    /// The effect of a character on the construct around the list.
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
    /// Whether a here-document has begun in it, or in parentheses within it.
    private(set) var hasHereDocument = false
    private var opening: HereDocument.Opening?
    /// The word so far, without its quotes; of a long one the start. Not quoted, it may be a reserved one.
    var word: String?
    var isWordQuoted = false
    /// How many brackets without quotes are open in the word.
    var brackets = 0
    /// Whether the next word is that of a redirection.
    var isRedirecting = false
    /// Whether that redirection is `>&` or `<&`.
    var isDuplicating = false
    /// Whether the next word may be a reserved one.
    var isAtCommand = true
    /// The command that the words belong to.
    var arguments = ShellArguments()
    var head: Head?
    /// Whether `[[` is open.
    var isInConditional = false
    var cases: [CasePart] = []
    /// The operator of one character right before, of which two may be another.
    private var previous: Unicode.Scalar?

    /// A list that has just been opened.
    init(closer: Closer, mayBeArithmetic: Bool = false) {
        self.closer = closer
        self.mayBeArithmetic = mayBeArithmetic
    }

    /// Whether the next character belongs to the delimiter of a here-document.
    var isReadingDelimiter: Bool { opening != nil }
    /// Whether the list may end here.
    var isComplete: Bool { cases.isEmpty && opening == nil }

    /// Of a longer word, no more than this matters.
    private static let wordLength = 64

    /// Why an item cannot stand here, apart from quotes; `nil` if it can.
    var obstacle: ShellObstacle? {
        if mayBeArithmetic { return .arithmetic }
        if brackets > 0 { return .brackets }
        if isInConditional { return .conditional }
        if isRedirecting { return isDuplicating ? .duplication : nil }
        switch cases.last {
        case .subject, .pattern: return nil
        case .body, nil: return head == nil ? arguments.obstacle(behind: word ?? "") : nil
        }
    }

    /// Passes over a quote, or over a part of a word that is quoted.
    mutating func takeQuoted(_ scalar: Unicode.Scalar? = nil) {
        (isFresh, previous) = (false, nil)
        word = word ?? ""
        isWordQuoted = true
        if let scalar { append(scalar) }
    }

    /// Passes over a part of a word that the shell replaces by something.
    mutating func takeExpansion() {
        takeQuoted()
        word? += ShellArguments.expansion
    }

    /// Passes over an item.
    mutating func takeItem() {
        takeQuoted()
        word? += ShellArguments.item
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        if (word?.utf8.count ?? 0) < Self.wordLength { word = (word ?? "") + String(scalar) }
    }

    /// Adds the here-documents of a list in parentheses within this one.
    mutating func add(_ inner: ShellCommands) {
        hereDocuments += inner.hereDocuments
        hasHereDocument = hasHereDocument || inner.hasHereDocument
    }

    /// Continues behind parentheses within this list.
    mutating func passParentheses() {
        previous = nil
        guard isRedirecting else { return beginCommand() }
        // `<(…)`, which is a part of a word.
        (isRedirecting, isDuplicating) = (false, false)
        takeExpansion()
    }

    mutating func beginCommand() {
        (isAtCommand, head) = (true, nil)
        arguments = ShellArguments()
    }

    /// Passes over a character that is neither escaped nor part of a substitution.
    mutating func pass(_ scalar: Unicode.Scalar) -> Step {
        if let step = passOpening(scalar) { return step }
        let before = previous
        (previous, isFresh) = (nil, false)
        switch scalar {
        case "'":
            takeQuoted()
            return .open(.singleQuotes)
        case "\"":
            takeQuoted()
            return .open(.doubleQuotes)
        case "#" where word == nil:
            return mayBeArithmetic ? .unclear("# in double parentheses") : .open(.comment)
        case " ", "\t", "\n", ";", "&", "|", "(", ")", "<", ">":
            if let step = passEnd(of: word ?? "", at: scalar) ?? endWord() { return step }
            previous = scalar
            return passOperator(scalar, after: before)
        default:
            if word == nil { word = "" }
            append(scalar)
            if scalar == "[" { brackets += 1 } else if scalar == "]", brackets > 0 { brackets -= 1 }
            return .read
        }
    }

    private mutating func passOperator(_ scalar: Unicode.Scalar, after before: Unicode.Scalar?) -> Step {
        switch scalar {
        case "\n":
            beginCommand()
            guard !hereDocuments.isEmpty else { return .read }
            defer { hereDocuments = [] }
            return .lineEnd(hereDocuments)
        case ";", "&":
            // Two file descriptors, as in `2>&1`.
            if scalar == "&", before == "<" || before == ">" {
                isDuplicating = true
                return .read
            }
            if before == ";", cases.last == .body { cases[cases.count - 1] = .pattern(isFirst: true) }
            beginCommand()
        case "|":
            if before != ">" { beginCommand() }
        case "(":
            if cases.last == .pattern(isFirst: true) {
                cases[cases.count - 1] = .pattern(isFirst: false)
                return .read
            }
            return .open(.commands(ShellCommands(closer: .parenthesis, mayBeArithmetic: mayBeArithmetic)))
        case ")":
            guard case .pattern = cases.last else { return .close }
            cases[cases.count - 1] = .body
            beginCommand()
        case "<", ">":
            isRedirecting = true
            guard scalar == "<", before == "<" else { return .read }
            if mayBeArithmetic { return .unclear("<< in double parentheses") }
            if closer == .backquote { return .unclear("a here-document in backquotes") }
            previous = nil
            hasHereDocument = true
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
}
