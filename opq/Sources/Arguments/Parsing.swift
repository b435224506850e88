import WorkflowEngine

extension Command {
    /// The command that words ask for. `nil` if they ask for help.
    ///
    /// - Throws: `UsageError` if the words are wrong.
    public static func parsed(_ words: ArraySlice<String>) throws(UsageError) -> Self? {
        var command = Self()
        let options = options
        var rest = words
        var areOptions = !description.takesAnyWords
        while let word = rest.popFirst() {
            guard areOptions, word.hasPrefix("-"), word != "-" else {
                try add(word, to: &command)
                continue
            }
            if word == "--" {
                areOptions = false
            } else if word == "--help" || word == "-h" {
                return nil
            } else if word.hasPrefix("--") {
                try setLong(word, &rest, of: &command, options)
            } else {
                try setShort(word, &rest, of: &command, options)
            }
        }
        try command.validate()
        return command
    }

    private static func add(_ word: String, to command: inout Self) throws(UsageError) {
        guard let operands else { throw UsageError("\(description.name) takes no file and no name, found '\(word)'") }
        try operands.set(&command, word)
    }

    /// Reads `--name`, `--name=value`, or `--name value`.
    private static func setLong(
        _ word: String, _ rest: inout ArraySlice<String>, of command: inout Self, _ options: [CommandOption<Self>]
    ) throws(UsageError) {
        let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts.first.map(String.init) ?? ""
        guard let option = options.first(where: { $0.description.name == name }) else {
            let names = options.map { "--\($0.description.name)" }
            let remedy = suggestion(for: "--\(name)", among: names)
            // A list of all options is in the help.
            throw UsageError(
                "unknown option '--\(name)'\(remedy.flatMap { $0.hasPrefix("did") ? "; \($0)" : nil } ?? "")")
        }
        let value = parts.count > 1 ? String(parts[1]) : nil
        if value == "" { throw UsageError("\(word) has no value") }
        if option.description.placeholder == nil, value != nil { throw UsageError("--\(name) takes no value") }
        try set(option, "--\(name)", value, &rest, of: &command)
    }

    /// Reads `-n`, `-nvalue`, `-n=value`, `-n value`, or several flags behind one dash.
    private static func setShort(
        _ word: String, _ rest: inout ArraySlice<String>, of command: inout Self, _ options: [CommandOption<Self>]
    ) throws(UsageError) {
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            guard let option = options.first(where: { $0.description.short == letter }) else {
                throw UsageError("unknown option '-\(letter)'\(letters.isEmpty ? "" : " in '\(word)'")")
            }
            guard option.description.placeholder != nil else {
                try option.set(&command, nil)
                continue
            }
            if letters.first == "=" { letters.removeFirst() }
            let value = letters.isEmpty ? nil : String(letters)
            return try set(option, "-\(letter)", value, &rest, of: &command)
        }
    }

    private static func set(
        _ option: CommandOption<Self>, _ word: String, _ value: String?, _ rest: inout ArraySlice<String>,
        of command: inout Self
    ) throws(UsageError) {
        guard option.description.placeholder != nil else { return try option.set(&command, nil) }
        if let value { return try option.set(&command, value) }
        if option.description.isOptional {
            // Only a number can be the value, because the next word may be a file.
            return try option.set(&command, rest.first.flatMap { Int($0) } == nil ? nil : rest.removeFirst())
        }
        guard let next = rest.first, !next.hasPrefix("-") || next == "-" else {
            throw UsageError("\(word) has no value")
        }
        rest.removeFirst()
        try option.set(&command, next)
    }
}
