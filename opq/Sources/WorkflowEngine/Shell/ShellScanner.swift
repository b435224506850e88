/// A scanner that reads a shell command from left to right, and knows the quotes at each point.
///
/// The scanner only has to find the place of each placeholder. A wrong place cannot run a value as code, because a value is
/// never part of the text: it could only split a value into words.
struct ShellScanner {
    /// A construct that is open.
    enum Frame: Equatable {
        case commands(SimpleCommand)
        case apostrophes
        case quotationMarks
        case dollarQuotes
        case comment
        case parameter
        /// The number of open parentheses.
        case arithmetic(Int)
        case hereDocument(HereDocument)
    }

    /// A here-document.
    struct HereDocument: Equatable {
        var delimiter: [UInt8] = []
        var isQuoted = false
        /// Whether tabs at the starts of lines do not count, as after `<<-`.
        var ignoresTabs = false
        var line: [UInt8] = []
    }

    private var frames: [Frame] = [.commands(SimpleCommand(closer: nil))]
    private var isEscaped = false
    /// Whether the preceding byte is a `$` that may begin an expansion.
    private var followsDollar = false
    /// The preceding byte outside of quotes, for operators of two bytes. 0 after other constructs.
    private var previous: UInt8 = 0
    private var delimiter: HereDocument?
    private var delimiterQuote: UInt8?
    /// The here-documents that begin at the end of this line.
    private var documents: [HereDocument] = []
    /// Whether a command declares a variable whose values bash evaluates.
    private(set) var declaresEvaluated = false

    private var top: Frame {
        get { frames[frames.count - 1] }
        set { frames[frames.count - 1] = newValue }
    }

    /// The place of a placeholder that is inserted here.
    var place: Result<ShellPlace, ShellObstacle> {
        if delimiter != nil { return .failure(.hereDocumentDelimiter) }
        var isInWord = true
        for frame in frames.reversed() {
            switch frame {
            case .arithmetic: return .failure(.arithmetic)
            case .parameter: return .failure(.parameterExpansion)
            case .commands(let command):
                if isInWord, let obstacle = command.obstacle(after: previous) { return .failure(obstacle) }
                if command.closer != nil { isInWord = false }
            case .hereDocument, .comment: isInWord = false
            case .apostrophes, .quotationMarks, .dollarQuotes: break
            }
        }
        switch top {
        case .apostrophes: return .failure(.apostrophes)
        case .dollarQuotes: return .failure(.dollarQuotes)
        case .comment: return .success(.comment)
        case .hereDocument(let document) where document.isQuoted: return .failure(.quotedHereDocument)
        default: break
        }
        if isEscaped { return .failure(.afterBackslash) }
        if case .commands = top { return .success(.word) }
        return .success(.quoted)
    }

    /// Reads a placeholder.
    mutating func passValue() {
        (isEscaped, followsDollar, previous) = (false, false, 0)
        noteInWord(0)
        if case .hereDocument(var document) = top {
            document.line.append(0)
            top = .hereDocument(document)
        }
    }

    /// Reads text of the command.
    mutating func pass(_ text: String) {
        for byte in text.utf8 { pass(byte) }
    }

    /// Reads the end of the command.
    mutating func end() {
        for case .commands(var command) in frames {
            command.endWord()
            noteDeclaration(of: command)
        }
    }

    private mutating func noteDeclaration(of command: SimpleCommand) {
        if command.declaresEvaluated { declaresEvaluated = true }
    }

    /// Adds a quoted byte to the word of the command around the quotes. 0 stands for a placeholder.
    private mutating func noteInWord(_ byte: UInt8) {
        for index in frames.indices.reversed() {
            switch frames[index] {
            case .commands(var command):
                command.take(byte, isQuoted: true)
                frames[index] = .commands(command)
                return
            case .quotationMarks, .apostrophes, .dollarQuotes: continue
            case .comment, .parameter, .arithmetic, .hereDocument: return
            }
        }
    }

    private mutating func pass(_ byte: UInt8) {
        if delimiter != nil { return passDelimiter(byte) }
        switch top {
        case .apostrophes:
            if byte == UInt8(ascii: "'") { frames.removeLast() } else { noteInWord(byte) }
        case .dollarQuotes:
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "'") {
                frames.removeLast()
            }
        case .comment:
            guard byte == UInt8(ascii: "\n") else { return }
            frames.removeLast()
            pass(byte)
        case .hereDocument(let document): passDocument(byte, document)
        case .commands(let command): passCommand(byte, command)
        case .quotationMarks, .parameter, .arithmetic: passQuoted(byte)
        }
    }

    // MARK: - Commands

    private mutating func passCommand(_ byte: UInt8, _ old: SimpleCommand) {
        var command = old
        defer { previous = byte }
        if isEscaped {
            isEscaped = false
            if byte != UInt8(ascii: "\n") { command.take(byte, isQuoted: true) }
            top = .commands(command)
            return
        }
        if expand(byte, isQuoted: false) { return }
        switch byte {
        case UInt8(ascii: "\\"): isEscaped = true
        case UInt8(ascii: "'"): frames.append(.apostrophes)
        case UInt8(ascii: "\""): frames.append(.quotationMarks)
        case UInt8(ascii: "#") where !command.isInWord: frames.append(.comment)
        case UInt8(ascii: "<") where previous == UInt8(ascii: "<"):
            if old.lastOperatorCount == 1 { delimiter = HereDocument() }
            command.noteOperator(byte)
            top = .commands(command)
        case UInt8(ascii: "("):
            let isArithmetic = previous == byte && !command.isInWord
            command.open()
            top = .commands(command)
            frames.append(isArithmetic ? .arithmetic(1) : .commands(SimpleCommand(closer: UInt8(ascii: ")"))))
        case UInt8(ascii: ")"): closeParenthesis(command)
        case UInt8(ascii: "\n"):
            command.endCommand()
            noteDeclaration(of: old)
            top = .commands(command)
            frames += documents.reversed().map { .hereDocument($0) }
            documents = []
        case UInt8(ascii: ";"), UInt8(ascii: "&"), UInt8(ascii: "|"):
            noteDeclaration(of: old)
            if byte == UInt8(ascii: "&"), old.lastOperatorCount > 0, !old.isInWord {
                // The `&` of `>&`.
                command.noteOperator(byte)
            } else {
                command.endCommand()
            }
            top = .commands(command)
        default:
            command.take(byte, isQuoted: false)
            top = .commands(command)
        }
    }

    private mutating func closeParenthesis(_ old: SimpleCommand) {
        var command = old
        noteDeclaration(of: old)
        command.endWord()
        if command.closer == UInt8(ascii: ")"), !command.endsPattern {
            frames.removeLast()
        } else {
            // The end of a pattern of `case`, or of a function's name.
            command.endCommand()
            top = .commands(command)
        }
    }

    // MARK: - Quotes

    /// Reads a byte between quotation marks, in `${…}` or in arithmetic, which differ in how they end.
    private mutating func passQuoted(_ byte: UInt8) {
        if isEscaped {
            isEscaped = false
            return noteInWord(byte)
        }
        if expand(byte, isQuoted: true) { return }
        switch (top, byte) {
        case (_, UInt8(ascii: "\\")): isEscaped = true
        case (.quotationMarks, UInt8(ascii: "\"")): frames.removeLast()
        case (.parameter, UInt8(ascii: "}")): frames.removeLast()
        case (.parameter, UInt8(ascii: "\"")), (.arithmetic, UInt8(ascii: "\"")): frames.append(.quotationMarks)
        case (.parameter, UInt8(ascii: "'")):
            // Between quotation marks, an apostrophe in `${…}` is plain text in most shells.
            if !isBetweenQuotationMarks { frames.append(.apostrophes) }
        case (.arithmetic(let depth), UInt8(ascii: "(")): top = .arithmetic(depth + 1)
        case (.arithmetic(let depth), UInt8(ascii: ")")):
            if depth > 1 {
                top = .arithmetic(depth - 1)
            } else {
                frames.removeLast()
                previous = 0
            }
        case (.quotationMarks, _): noteInWord(byte)
        default: break
        }
    }

    /// Whether quotation marks are open around the innermost constructs that are not commands.
    private var isBetweenQuotationMarks: Bool {
        for frame in frames.reversed() {
            switch frame {
            case .quotationMarks, .hereDocument: return true
            case .commands: return false
            default: continue
            }
        }
        return false
    }

    /// Opens the construct that begins with `$` or `` ` ``. Returns whether the byte belongs to such a construct.
    private mutating func expand(_ byte: UInt8, isQuoted: Bool) -> Bool {
        let follows = followsDollar
        followsDollar = false
        switch byte {
        case UInt8(ascii: "`"):
            noteInWord(byte)
            // A backquote ends the innermost backquotes, also if a quote in them is open.
            let open = frames.lastIndex { if case .commands(let inner) = $0 { inner.closer == byte } else { false } }
            if let open {
                frames.removeSubrange(open...)
            } else {
                frames.append(.commands(SimpleCommand(closer: byte)))
            }
        case UInt8(ascii: "$"):
            noteInWord(byte)
            // The second of two dollar signs completes `$$`, the process identifier.
            followsDollar = !follows
        case UInt8(ascii: "(") where follows:
            frames.append(.commands(SimpleCommand(closer: UInt8(ascii: ")"), isFresh: true)))
        case UInt8(ascii: "{") where follows: frames.append(.parameter)
        case UInt8(ascii: "[") where follows: frames.append(.parameter)
        case UInt8(ascii: "'") where follows && !isQuoted: frames.append(.dollarQuotes)
        case UInt8(ascii: "#") where follows: break
        case UInt8(ascii: "("):
            guard case .commands(let inner) = top, inner.isFresh else { return false }
            top = .arithmetic(2)
        default: return false
        }
        previous = byte
        return true
    }

    // MARK: - Here-documents

    private mutating func passDelimiter(_ byte: UInt8) {
        guard var document = delimiter else { return }
        let isBlank = byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
        if let quote = delimiterQuote {
            if byte == quote { delimiterQuote = nil } else { document.delimiter.append(byte) }
        } else if isEscaped {
            isEscaped = false
            document.delimiter.append(byte)
        } else if byte == UInt8(ascii: "<"), previous == byte, document.delimiter.isEmpty {
            // A here-string, whose word is an ordinary one.
            (delimiter, previous) = (nil, 0)
            return
        } else if byte == UInt8(ascii: "-"), previous == UInt8(ascii: "<") {
            document.ignoresTabs = true
        } else if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
            (delimiterQuote, document.isQuoted) = (byte, true)
        } else if byte == UInt8(ascii: "\\") {
            (isEscaped, document.isQuoted) = (true, true)
        } else if isBlank, document.delimiter.isEmpty, !document.isQuoted {
            previous = byte
        } else if isBlank || ";&|()<>\n".utf8.contains(byte) {
            documents.append(document)
            (delimiter, previous) = (nil, 0)
            pass(byte)
            return
        } else {
            document.delimiter.append(byte)
        }
        previous = byte
        delimiter = document
    }

    private mutating func passDocument(_ byte: UInt8, _ old: HereDocument) {
        var document = old
        if byte == UInt8(ascii: "\n") {
            let line = document.ignoresTabs ? Array(document.line.drop { $0 == UInt8(ascii: "\t") }) : document.line
            if line == document.delimiter {
                (isEscaped, followsDollar, previous) = (false, false, 0)
                frames.removeLast()
                return
            }
            document.line = []
        } else {
            document.line.append(byte)
        }
        top = .hereDocument(document)
        if document.isQuoted { return }
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else {
            _ = expand(byte, isQuoted: true)
        }
    }
}
