/// The meaning of words in a list: in the shell's grammar, or for their command.
extension ShellCommands {
    /// The reserved words after which another reserved word or a command may follow.
    private static let separators: Set<String> = [
        "if", "then", "else", "elif", "fi", "do", "done", "while", "until", "!", "{", "}", "time",
    ]
    /// Handles a word and the next character in the cases where both matter.
    mutating func passEnd(of text: String, at scalar: Unicode.Scalar) -> Step? {
        defer { brackets = 0 }
        if isInConditional, "()<>".unicodeScalars.contains(scalar) {
            return .unclear("parentheses or angle brackets in [[ … ]]")
        }
        if mayBeArithmetic { return nil }
        if brackets > 0, text.hasPrefix("[") == false, !isRedirecting, arguments.mayAssign(text) {
            return .unclear("a word with an open bracket")
        }
        if scalar == "(", text.hasSuffix("="), !isWordQuoted { return .unclear("an array") }
        let isNumber = !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        // A number before a redirection is a descriptor.
        if scalar == "<" || scalar == ">", isNumber, !isWordQuoted { word = nil }
        return nil
    }

    /// Ends the current word, if a word has begun.
    mutating func endWord() -> Step? {
        guard let text = word else { return nil }
        let reserved = isWordQuoted ? nil : text
        (word, isWordQuoted) = (nil, false)
        if isRedirecting {
            (isRedirecting, isDuplicating) = (false, false)
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
            beginCommand()
        case .pattern:
            cases[cases.count - 1] = .pattern(isFirst: false)
        case .body, nil:
            return endCommandWord(text, reserved)
        }
        return nil
    }

    private mutating func endCommandWord(_ text: String, _ reserved: String?) -> Step? {
        if isInConditional {
            guard reserved == "]]" else { return nil }
            isInConditional = false
            beginCommand()
            return nil
        }
        switch head {
        case .loop: (head, arguments) = (.variable, ShellArguments(loopOver: text))
        case .variable:
            head = nil
            if reserved == "do" { beginCommand() }
        case .function: beginCommand()
        case nil: return endWordOfCommand(text, reserved)
        }
        return nil
    }

    private mutating func endWordOfCommand(_ text: String, _ reserved: String?) -> Step? {
        let word = isAtCommand ? reserved : nil
        isAtCommand = false
        switch word {
        case "case": cases.append(.subject(isRead: false))
        case "esac" where cases.last == .body:
            cases.removeLast()
            beginCommand()
        case "for", "select": head = .loop
        case "function": head = .function
        case "[[": isInConditional = true
        case "coproc": return .unclear("coproc")
        case let word? where Self.separators.contains(word): beginCommand()
        default:
            arguments.pass(text)
            // A command may follow an option, as in `time -p`.
            isAtCommand = word?.hasPrefix("-") ?? false
        }
        return nil
    }
}
