/// A scanner that reads a shell command from left to right, and knows the quotes at each point.
///
/// The scanner finds the place of each placeholder, and the commands that could make code of a value. A value is never part of the
/// text, so a wrong place can only split a value into words. The time is proportional to the length of the text.
struct ShellScanner {
    /// A construct that is open.
    enum Frame: Equatable {
        /// A list of commands, of which ``commands`` has the current one.
        case commands
        case apostrophes
        case quotationMarks
        case dollarQuotes
        case comment
        case parameter
        /// The number of open parentheses.
        case arithmetic(Int)
        /// A here-document of ``openDocuments``.
        case hereDocument
    }

    /// A here-document.
    struct HereDocument: Equatable {
        var delimiter: [UInt8] = []
        var isQuoted = false
        /// Whether tabs at the starts of lines do not count, as after `<<-`.
        var ignoresTabs = false
        var line: [UInt8] = []
    }

    /// The number of open constructs that the scanner reads.
    static let depthLimit = 64

    private var frames: [Frame] = [.commands]
    private var commands = [SimpleCommand(closer: nil)]
    private var openDocuments: [HereDocument] = []
    /// The text so far.
    private var passed = ""
    private var isEscaped = false
    /// Whether the preceding byte is a `$` that may begin an expansion.
    private var followsDollar = false
    /// The preceding byte outside of quotes, for operators of two bytes. 0 after other constructs.
    private var previous: UInt8 = 0
    private var delimiter: HereDocument?
    private var delimiterQuote: UInt8?
    /// The here-documents that begin at the end of this line.
    private var documents: [HereDocument] = []
    /// The reason why no placeholder may stand anywhere in the text. Known after ``end()``.
    private(set) var obstacleOfText: ShellObstacle?

    private var top: Frame {
        get { frames[frames.count - 1] }
        set { frames[frames.count - 1] = newValue }
    }

    /// The place of a placeholder that is inserted here.
    var place: Result<ShellPlace, ShellObstacle> {
        if delimiter != nil { return .failure(.hereDocumentDelimiter) }
        var isInWord = true
        var level = commands.count
        for frame in frames.reversed() {
            switch frame {
            case .arithmetic: return .failure(.arithmetic)
            case .parameter: return .failure(.parameterExpansion)
            case .commands:
                level -= 1
                let command = commands[level]
                if isInWord, let obstacle = command.obstacle(after: previous),
                    obstacle != .name || !isProgramOfEnvironment(command)
                {
                    return .failure(obstacle)
                }
                if command.closer != nil { isInWord = false }
            case .hereDocument, .comment: isInWord = false
            case .apostrophes, .quotationMarks, .dollarQuotes: break
            }
        }
        switch top {
        case .apostrophes: return .failure(.apostrophes)
        case .dollarQuotes: return .failure(.dollarQuotes)
        case .comment: return .success(.comment)
        case .hereDocument where openDocuments.last?.isQuoted == true: return .failure(.quotedHereDocument)
        default: break
        }
        if isEscaped { return .failure(.afterBackslash) }
        return .success(top == .commands ? .word : .quoted)
    }

    /// Whether the shell replaces a variable here.
    var expandsVariables: Bool {
        switch place {
        case .success(.comment): false
        case .success: true
        case .failure(let obstacle):
            ![.apostrophes, .dollarQuotes, .quotedHereDocument, .hereDocumentDelimiter, .afterBackslash].contains(
                obstacle)
        }
    }

    /// Whether the name of the command is a variable such as `$CC`, which the text before does not set. The environment has a
    /// program there, and no command of the shell.
    private func isProgramOfEnvironment(_ command: SimpleCommand) -> Bool {
        guard let variable = command.variableOfName else { return false }
        var rest = passed[...]
        while let range = rest.firstRange(of: variable) {
            let before = rest[..<range.lowerBound].last ?? " "
            // `${CC:=eval}` gives the variable a value.
            guard before == "$" || before == "{" && rest[range.upperBound...].first == "}" else { return false }
            rest = rest[range.upperBound...]
        }
        return true
    }

    /// Reads a placeholder.
    mutating func passValue() {
        (isEscaped, followsDollar, previous) = (false, false, 0)
        noteInWord(0)
        if top == .hereDocument { openDocuments[openDocuments.count - 1].line.append(0) }
    }

    /// Reads text of the command.
    mutating func pass(_ text: String) {
        passed += text
        for byte in text.utf8 { pass(byte) }
    }

    /// Reads the end of the command.
    mutating func end() {
        for command in commands { note(command) }
    }

    private mutating func note(_ command: SimpleCommand) {
        if obstacleOfText == nil { obstacleOfText = command.obstacleOfText }
    }

    private mutating func push(_ frame: Frame) {
        if frames.count >= Self.depthLimit { obstacleOfText = .depth }
        frames.append(frame)
    }

    private mutating func push(_ command: SimpleCommand) {
        push(.commands)
        commands.append(command)
    }

    private mutating func pop() {
        switch frames.removeLast() {
        case .commands: note(commands.removeLast())
        case .hereDocument: openDocuments.removeLast()
        default: break
        }
    }

    /// Changes the innermost command in place, because a copy for each byte would make long words slow.
    private mutating func change(_ body: (inout SimpleCommand) -> Void) { body(&commands[commands.count - 1]) }

    private mutating func endCommand() {
        note(commands[commands.count - 1])
        change { $0.endCommand() }
    }

    /// Adds a quoted byte to the word of the command around the quotes. 0 stands for a placeholder.
    private mutating func noteInWord(_ byte: UInt8) {
        for frame in frames.reversed() {
            switch frame {
            case .commands: return change { $0.take(byte, isQuoted: true) }
            case .quotationMarks, .apostrophes, .dollarQuotes, .parameter: continue
            case .comment, .arithmetic, .hereDocument: return
            }
        }
    }

    /// Notes a backquote after a backslash, which opens backquotes within backquotes.
    private mutating func noteEscaped(_ byte: UInt8) {
        guard byte == UInt8(ascii: "`"), commands.contains(where: { $0.closer == byte }) else { return }
        obstacleOfText = obstacleOfText ?? .nestedBackquotes
    }

    private mutating func pass(_ byte: UInt8) {
        if obstacleOfText == .depth { return }
        if delimiter != nil { return passDelimiter(byte) }
        switch top {
        case .apostrophes:
            if byte == UInt8(ascii: "'") { pop() } else { noteInWord(byte) }
        case .dollarQuotes:
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "'") {
                pop()
            }
        case .comment:
            guard byte == UInt8(ascii: "\n") else { return }
            pop()
            pass(byte)
        case .hereDocument: passDocument(byte)
        case .commands: passCommand(byte)
        case .quotationMarks, .parameter, .arithmetic: passQuoted(byte)
        }
    }

    // MARK: - Commands

    private mutating func passCommand(_ byte: UInt8) {
        defer { previous = byte }
        if isEscaped {
            isEscaped = false
            noteEscaped(byte)
            if byte != UInt8(ascii: "\n") { change { $0.take(byte, isQuoted: true) } }
            return
        }
        if expand(byte, isQuoted: false) { return }
        let isInWord = commands[commands.count - 1].isInWord
        let operatorCount = commands[commands.count - 1].lastOperatorCount
        switch byte {
        case UInt8(ascii: "\\"): isEscaped = true
        case UInt8(ascii: "'"): push(.apostrophes)
        case UInt8(ascii: "\""): push(.quotationMarks)
        case UInt8(ascii: "#") where !isInWord: push(.comment)
        case UInt8(ascii: "<") where previous == UInt8(ascii: "<"):
            if operatorCount == 1 { delimiter = HereDocument() }
            change { $0.noteOperator(byte) }
        case UInt8(ascii: "("):
            let isArithmetic = previous == byte && !isInWord
            note(commands[commands.count - 1])
            let isList = commands[commands.count - 1].open()
            if isArithmetic {
                push(.arithmetic(1))
            } else {
                push(SimpleCommand(closer: UInt8(ascii: ")"), isList: isList))
            }
        case UInt8(ascii: ")"): closeParenthesis()
        case UInt8(ascii: "\n"):
            if commands[commands.count - 1].isList { return change { $0.endWord() } }
            endCommand()
            for document in documents.reversed() {
                push(.hereDocument)
                openDocuments.append(document)
            }
            documents = []
        case UInt8(ascii: "|") where previous == UInt8(ascii: ">") && operatorCount == 1:
            change { $0.noteOperator(byte) }
        case UInt8(ascii: "&") where operatorCount > 0 && !isInWord:
            // The `&` of `>&`.
            change { $0.noteOperator(byte) }
        case UInt8(ascii: ";"), UInt8(ascii: "&"), UInt8(ascii: "|"): endCommand()
        default: change { $0.take(byte, isQuoted: false) }
        }
    }

    private mutating func closeParenthesis() {
        change { $0.endWord() }
        let command = commands[commands.count - 1]
        if command.closer == UInt8(ascii: ")"), !command.endsPattern {
            pop()
        } else {
            // The end of a pattern of `case`, or of a function's name.
            endCommand()
        }
    }

    // MARK: - Quotes

    /// Reads a byte between quotation marks, in `${…}` or in arithmetic, which differ in how they end.
    private mutating func passQuoted(_ byte: UInt8) {
        if isEscaped {
            isEscaped = false
            noteEscaped(byte)
            return noteInWord(byte)
        }
        if expand(byte, isQuoted: true) { return }
        switch (top, byte) {
        case (_, UInt8(ascii: "\\")): isEscaped = true
        case (.quotationMarks, UInt8(ascii: "\"")): pop()
        case (.parameter, UInt8(ascii: "}")):
            pop()
            noteInWord(byte)
        case (.parameter, UInt8(ascii: "\"")), (.arithmetic, UInt8(ascii: "\"")): push(.quotationMarks)
        case (.parameter, UInt8(ascii: "'")):
            // Between quotation marks, an apostrophe in `${…}` is plain text in most shells.
            if !isBetweenQuotationMarks { push(.apostrophes) }
        case (.arithmetic(let depth), UInt8(ascii: "(")): top = .arithmetic(depth + 1)
        case (.arithmetic(let depth), UInt8(ascii: ")")):
            if depth > 1 {
                top = .arithmetic(depth - 1)
            } else {
                pop()
                previous = 0
            }
        case (.quotationMarks, _), (.parameter, _): noteInWord(byte)
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
            // A backquote ends the innermost backquotes, also if a quote in them is open.
            if commands.contains(where: { $0.closer == byte }) {
                while commands.last?.closer != byte || top != .commands { pop() }
                pop()
            } else {
                noteInWord(byte)
                push(SimpleCommand(closer: byte))
            }
        case UInt8(ascii: "$"):
            noteInWord(byte)
            // The second of two dollar signs completes `$$`, the process identifier.
            followsDollar = !follows
        case UInt8(ascii: "(") where follows:
            push(SimpleCommand(closer: UInt8(ascii: ")"), isFresh: true))
        case UInt8(ascii: "{") where follows:
            noteInWord(byte)
            push(.parameter)
        case UInt8(ascii: "[") where follows: push(.parameter)
        case UInt8(ascii: "'") where follows && !isQuoted: push(.dollarQuotes)
        case UInt8(ascii: "#") where follows: break
        case UInt8(ascii: "("):
            guard top == .commands, commands.last?.isFresh == true else { return false }
            commands.removeLast()
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
            change { $0.endDelimiter() }
            pass(byte)
            return
        } else {
            document.delimiter.append(byte)
        }
        previous = byte
        delimiter = document
    }

    private mutating func passDocument(_ byte: UInt8) {
        let last = openDocuments.count - 1
        let isQuoted = openDocuments[last].isQuoted
        if byte == UInt8(ascii: "\n") {
            let document = openDocuments[last]
            let line = document.ignoresTabs ? document.line.drop { $0 == UInt8(ascii: "\t") } : document.line[...]
            if line.elementsEqual(document.delimiter) {
                (isEscaped, followsDollar, previous) = (false, false, 0)
                return pop()
            }
            openDocuments[last].line = []
        } else {
            openDocuments[last].line.append(byte)
        }
        if isQuoted { return }
        if isEscaped {
            isEscaped = false
            noteEscaped(byte)
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else {
            _ = expand(byte, isQuoted: true)
        }
    }
}
