import WorkflowEngine

/// The table of the commands of a program.
public struct CommandProgram: Sendable {
    /// The name of the program.
    public let name: String
    /// One sentence.
    public let abstract: String
    /// More text.
    public let discussion: String
    /// The number of the version.
    public let version: String
    /// The commands, in the order of the help.
    public let commands: [any Command.Type]

    /// The reaction to the words of a command line.
    public enum Reaction {
        /// Run a command.
        case run(any Command)
        /// Print a text on standard output.
        case print(String)
        /// Print a text on standard error, and end with the status for wrong words.
        case refuse(String)
    }

    /// Creates a table.
    public init(
        _ name: String, version: String, _ abstract: String, discussion: String, commands: [any Command.Type]
    ) {
        (self.name, self.version, self.abstract, self.discussion) = (name, version, abstract, discussion)
        self.commands = commands
    }

    /// Returns the reaction to the words after the name of the program.
    ///
    /// - Parameter exists: Whether a file exists.
    public func reaction(to words: [String], exists: (String) -> Bool) -> Reaction {
        let rest = words.dropFirst()
        switch words.first {
        case nil, "--help", "-h": return .print(help)
        case "--version": return .print(version)
        case "help": return rest.first.flatMap(command).map { .print(help(of: $0)) } ?? .print(help)
        case "--completions":
            guard let shell = rest.first, let text = completions(for: shell) else {
                return .refuse("\(name): --completions needs bash, zsh or fish")
            }
            return .print(text)
        case "--manual": return .print(manualPage)
        case .some(let word):
            guard let type = command(word) else { return .refuse(mistake(word, exists: exists)) }
            if rest.prefix(while: { $0 != "--" }).contains("--version"), !type.description.takesAnyWords {
                return .print(version)
            }
            do throws(UsageError) {
                return try type.parsed(rest).map { .run($0) } ?? .print(help(of: type))
            } catch {
                return .refuse(
                    "\(name): \(error.text)\nUsage: \(usage(of: type))\n  '\(name) \(word) --help' has all options.")
            }
        }
    }

    private func command(_ name: String) -> (any Command.Type)? { commands.first { $0.description.name == name } }

    private func mistake(_ word: String, exists: (String) -> Bool) -> String {
        if word.hasPrefix("-") { return "\(name): unknown option '\(word)'; '\(name) --help' has all commands" }
        let remedy =
            exists(word)
            ? "did you mean '\(name) run \(word)'?"
            : suggestion(for: word, among: commands.map { $0.description.name })
        return "\(name): unknown subcommand '\(word)'\(remedy.map { "; \($0)" } ?? "")"
    }

    /// The words of a command in one line.
    func usage(of command: any Command.Type) -> String {
        let operands = command.operandDescription.map { " [<\($0.name)>]" } ?? ""
        return
            "\(name) \(command.description.name)\(command.optionDescriptions.isEmpty ? "" : " [<options>]")\(operands)"
    }
}

extension Command {
    static var optionDescriptions: [OptionDescription] { options.map(\.description) }
    static var operandDescription: OptionDescription? { operands?.description }
}
