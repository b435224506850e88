/// The meaning of a character at its place in a command.
extension ShellScanner {
    /// Reads a character of the command.
    mutating func read(_ scalar: Unicode.Scalar) {
        if scalar == "\n", !isNewlineClear {
            return becomeUnclear("a line end within quotes or parentheses beside a here-document")
        }
        if isEscaped, isAfterDollar, scalar == "\n" { return becomeUnclear("a line end escaped after $") }
        switch top {
        case .singleQuotes:
            if scalar == "'" { frames.removeLast() } else { noteQuoted(scalar) }
        case .dollarQuotes:
            if scalar == "'" { frames.removeLast() } else if scalar == "\\" { becomeUnclear("a backslash in $'…'") }
        case .comment:
            guard scalar == "\n" else { break }
            frames.removeLast()
            read(scalar)
        case .commands(let commands): readCommand(scalar, commands)
        case .hereDocument(let document): readDocument(scalar, document)
        case .doubleQuotes:
            if !"\"\\$`".unicodeScalars.contains(scalar) { noteQuoted(scalar) }
            readQuoted(scalar)
        case .parameter, .arithmetic: readQuoted(scalar)
        }
    }

    /// Adds a quoted character to its word.
    private mutating func noteQuoted(_ scalar: Unicode.Scalar) {
        guard case .commands(var commands) = frames.dropLast().last else { return }
        commands.takeQuoted(scalar)
        frames[frames.count - 2] = .commands(commands)
    }

    private mutating func escape() { (isEscaped, isAfterDollar, followsDollar) = (true, followsDollar, false) }

    /// Whether shells agree on the meaning of a line feed here. A here-document begins and ends at the end of a line. Shells
    /// disagree if another construct is open across the document.
    private var isNewlineClear: Bool {
        if top == .comment { return true }
        var outer = frames.dropLast()
        // If one line begins several documents, the later documents are below this one.
        while case .hereDocument = top, case .hereDocument = outer.last { outer.removeLast() }
        return outer.allSatisfy { frame in
            switch frame {
            case .hereDocument: false
            case .commands(let commands): commands.hereDocuments.isEmpty
            default: true
            }
        }
    }

    private mutating func readCommand(_ scalar: Unicode.Scalar, _ old: ShellCommands) {
        var commands = old
        if isEscaped {
            isEscaped = false
            if scalar != "\n" { commands.takeQuoted(scalar) }
            return top = .commands(commands)
        }
        if !commands.isReadingDelimiter {
            if commands.isFresh, scalar == "(", commands.closer == .substitution {
                return top = .arithmetic(depth: 0, isClosing: false)
            }
            if commands.isFresh, scalar == "\\", commands.closer == .substitution {
                return becomeUnclear("a backslash after $(")
            }
            if commands.isFresh, scalar == "(", commands.closer == .parenthesis { commands.mayBeArithmetic = true }
            if scalar == "\\" || scalar == "$" || scalar == "`"
                || followsDollar && "({['".unicodeScalars.contains(scalar)
            {
                if scalar != "\\" { commands.takeExpansion() }
                top = .commands(commands)
                if scalar == "\\" {
                    escape()
                } else {
                    expand(scalar, isQuoted: false)
                }
                return
            }
            followsDollar = false
        }
        let step = commands.pass(scalar)
        top = .commands(commands)
        act(on: step)
    }

    private mutating func act(on step: ShellCommands.Step) {
        switch step {
        case .read: break
        case .open(let frame): frames.append(frame)
        case .lineEnd(let documents): frames += documents.reversed().map { .hereDocument($0) }
        case .unclear(let construct): becomeUnclear(construct)
        case .close: closeParenthesis()
        }
    }

    private mutating func closeParenthesis() {
        guard case .commands(let commands) = top, commands.isComplete,
            commands.closer == .parenthesis || commands.closer == .substitution
        else { return becomeUnclear("a parenthesis that nothing opens") }
        frames.removeLast()
        guard commands.closer == .parenthesis else {
            if !commands.hereDocuments.isEmpty { becomeUnclear("a here-document that begins after its $(…)") }
            return
        }
        guard case .commands(var outer) = top else { return }
        outer.add(commands)
        outer.passParentheses()
        top = .commands(outer)
    }

    private mutating func readDocument(_ scalar: Unicode.Scalar, _ old: HereDocument) {
        var document = old
        switch document.pass(scalar) {
        case .read: break
        case .end:
            (isEscaped, followsDollar) = (false, false)
            frames.removeLast()
            return
        case .unclear: return becomeUnclear(Self.unclearDelimiter)
        }
        top = .hereDocument(document)
        if document.isQuoted { return }
        if isEscaped {
            isEscaped = false
            if scalar == "\n" { becomeUnclear("a backslash at the end of a line of a here-document") }
        } else if scalar == "\\" {
            escape()
        } else {
            expand(scalar, isQuoted: true)
        }
    }

    /// Reads a character between quotation marks, in `${…}` or in arithmetic, which differ in how they end.
    private mutating func readQuoted(_ scalar: Unicode.Scalar) {
        if isEscaped { return isEscaped = false }
        switch (top, scalar) {
        case (.arithmetic(_, isClosing: true), _):
            if scalar == ")" { frames.removeLast() } else { becomeUnclear("$(( without ))") }
        case (_, "\\"):
            escape()
        case (.doubleQuotes, "\""):
            followsDollar = false
            frames.removeLast()
        case (.parameter, "}"):
            followsDollar = false
            frames.removeLast()
        case (.parameter(isQuoted: true), "'"), (.arithmetic, "'"):
            becomeUnclear("an apostrophe within ${…} or $((…))")
        case (.parameter(isQuoted: false), "'"):
            frames.append(.singleQuotes)
        case (.parameter, "\""), (.arithmetic, "\""):
            followsDollar = false
            if isInHereDocument { becomeUnclear("a quotation mark within ${…} in a here-document") }
            frames.append(.doubleQuotes)
        case (.arithmetic(let depth, _), "(") where !followsDollar:
            top = .arithmetic(depth: depth + 1, isClosing: false)
        case (.arithmetic(let depth, _), ")"):
            followsDollar = false
            top = depth > 0 ? .arithmetic(depth: depth - 1, isClosing: false) : .arithmetic(depth: 0, isClosing: true)
        default:
            if case .parameter(let isQuoted) = top {
                expand(scalar, isQuoted: isQuoted)
            } else {
                expand(scalar, isQuoted: true)
            }
        }
    }

    private var isInHereDocument: Bool {
        frames.contains { if case .hereDocument = $0 { true } else { false } }
    }

    /// Opens the construct that begins with `$` or `` ` ``.
    private mutating func expand(_ scalar: Unicode.Scalar, isQuoted: Bool) {
        let follows = followsDollar
        followsDollar = false
        switch scalar {
        case "`": frames.append(.commands(ShellCommands(closer: .backquote)))
        // The second of two dollar signs completes `$$`, the process identifier.
        case "$": followsDollar = !follows
        case "(" where follows: frames.append(.commands(ShellCommands(closer: .substitution)))
        case "{" where follows: frames.append(.parameter(isQuoted: isQuoted))
        case "[" where follows: becomeUnclear("$[")
        case "'" where follows && !isQuoted: frames.append(.dollarQuotes)
        default: break
        }
    }
}
