extension CommandProgram {
    /// The overview of the commands.
    var help: String {
        var lines = ["\(name): \(abstract)", ""] + discussion.wrapped(to: 80)
        lines += ["", "Usage: \(name) <command> [<options>] [<file and names>]", "", "Commands:"]
        for command in commands { lines += Self.row(command.description.name, command.description.abstract) }
        lines += ["", "Options:"]
        lines += Self.row("--version", "Print the version.") + Self.row("-h, --help", "Print this help.")
        lines += Self.row("--completions <shell>", "Print the completions for bash, zsh or fish.")
        lines += Self.row("--manual", "Print the manual page in the language of man.")
        lines += ["", "'\(name) <command> --help' has the options of a command."]
        return lines.joined(separator: "\n")
    }

    /// The help of one command.
    func help(of command: any Command.Type) -> String {
        var lines = [command.description.abstract]
        if let discussion = command.description.discussion { lines += [""] + discussion.wrapped(to: 80) }
        lines += ["", "Usage: \(usage(of: command))"]
        if let operands = command.operandDescription {
            lines += ["", "Words:"] + Self.row("<\(operands.name)>", operands.help)
        }
        lines += ["", "Options:"]
        for option in command.optionDescriptions {
            lines += Self.row((option.short.map { "-\($0), " } ?? "") + option.usage, option.help)
        }
        lines += Self.row("-h, --help", "Print this help.")
        return lines.joined(separator: "\n")
    }

    /// Returns two columns. A long first column has a line of its own.
    private static func row(_ title: String, _ text: String) -> [String] {
        let width = 24
        var lines = text.wrapped(to: 80 - width - 2)
        let title = "  " + title
        let isLong = title.count >= width
        if !isLong, let first = lines.first {
            lines[0] = title + String(repeating: " ", count: width + 2 - title.count) + first
        }
        let margin = String(repeating: " ", count: width + 2)
        return (isLong ? [title] : []) + lines.enumerated().map { $0 == 0 && !isLong ? $1 : margin + $1 }
    }
}

extension String {
    /// The lines of the text, none longer than `width` unless a word is.
    fileprivate func wrapped(to width: Int) -> [String] {
        var lines: [String] = []
        for word in split(separator: " ") {
            if let last = lines.last, last.count + word.count < width {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
