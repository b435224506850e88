/// The state of a list of shell commands: the whole command, or a part in parentheses or backquotes.
///
/// The state distinguishes a `)` that ends the list from a `)` after a pattern of `case`. It also distinguishes a `#` that
/// begins a comment from others. It knows the here-documents that begin at the end of the line, and the command of the
/// current word.
struct ShellCommands: Equatable {
    /// The character that ends the list.
    enum Closer: Equatable { case none, parenthesis, substitution, backquote }

    enum CasePart: Equatable {
        /// The part after `case`, and after the word that follows.
        case subject(isRead: Bool)
        case pattern(isFirst: Bool)
        case body
    }

    /// The part of a loop before its words, or of a function before its body.
    enum Head: Equatable {
        /// The part after `for` or `select`, or after the variable that follows.
        case loop
        case variable
        /// The part after `function`.
        case function
    }

    /// The effect of a character on the construct around the list.
    enum Step: Equatable {
        case read
        case open(ShellScanner.Frame)
        /// The line ends, and here-documents begin.
        case lineEnd([HereDocument])
        /// A parenthesis ends the list.
        case close
        case unclear(String)
    }

    let closer: Closer
    /// Whether `bash` may read the list as arithmetic, because the list begins with `((` or is within such a list.
    var mayBeArithmetic = false
    /// Whether no character of the list has been read.
    private(set) var isFresh = true
    /// The here-documents that begin at the next end of a line.
    private(set) var hereDocuments: [HereDocument] = []
    /// Whether a here-document has begun in the list, or in parentheses within the list.
    private(set) var hasHereDocument = false
    private var opening: HereDocument.Opening?
    /// The current word without its quotes, limited to its first characters. A word without quotes may be a reserved word.
    var word: String?
    var isWordQuoted = false
    /// The number of open brackets without quotes in the word.
    var brackets = 0
    /// Whether the next word belongs to a redirection.
    var isRedirecting = false
    /// Whether the redirection is `>&` or `<&`.
    var isDuplicating = false
    /// Whether the next word may be a reserved word.
    var isAtCommand = true
    /// The state of the current command.
    var arguments = ShellArguments()
    var head: Head?
    /// Whether the list is within `[[ … ]]`.
    var isInConditional = false
    var cases: [CasePart] = []
    /// The preceding operator character, which may form an operator of two characters with the next.
    private var previous: Unicode.Scalar?

    /// Creates the state at the start of a list.
    init(closer: Closer, mayBeArithmetic: Bool = false) {
        self.closer = closer
        self.mayBeArithmetic = mayBeArithmetic
    }

    /// Whether the next character belongs to the delimiter of a here-document.
    var isReadingDelimiter: Bool { opening != nil }
    /// Whether the list may end here.
    var isComplete: Bool { cases.isEmpty && opening == nil }

    /// The number of characters that are stored of a word. Longer words are not reserved words.
    private static let wordLength = 64

    /// The reason, other than quotes, why an item cannot stand here. `nil` if the item can.
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

    /// Reads a quote, or a quoted part of a word.
    mutating func takeQuoted(_ scalar: Unicode.Scalar? = nil) {
        (isFresh, previous) = (false, nil)
        word = word ?? ""
        isWordQuoted = true
        if let scalar { append(scalar) }
    }

    /// Reads an expansion in a word.
    mutating func takeExpansion() {
        takeQuoted()
        word? += ShellArguments.expansion
    }

    /// Reads an item.
    mutating func takeItem() {
        takeQuoted()
        word? += ShellArguments.item
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        if (word?.utf8.count ?? 0) < Self.wordLength { word = (word ?? "") + String(scalar) }
    }

    /// Adds the here-documents of an inner list in parentheses.
    mutating func add(_ inner: ShellCommands) {
        hereDocuments += inner.hereDocuments
        hasHereDocument = hasHereDocument || inner.hasHereDocument
    }

    /// Continues after parentheses within this list.
    mutating func passParentheses() {
        previous = nil
        guard isRedirecting else { return beginCommand() }
        // The parentheses are those of `<(…)`, which is part of a word.
        (isRedirecting, isDuplicating) = (false, false)
        takeExpansion()
    }

    mutating func beginCommand() {
        (isAtCommand, head) = (true, nil)
        arguments = ShellArguments()
    }

    /// Reads a character that is neither escaped nor part of a substitution.
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
            // The redirection names two file descriptors, as in `2>&1`.
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

    /// Reads a character of the delimiter of a here-document. Returns `nil` if the character is after the delimiter.
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
