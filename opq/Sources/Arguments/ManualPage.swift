extension CommandProgram {
    /// The manual page in the language of man. It is the same for each call.
    var manualPage: String {
        var lines = [
            ".TH \(name.uppercased()) 1 \"\" \"\(name) \(version)\"", ".SH NAME",
            "\(name) \\- \(Self.escaped(abstract.prefix(1).lowercased() + abstract.dropFirst().dropLast()))",
            ".SH SYNOPSIS", "\\fB\(name)\\fR \\fIcommand\\fR [\\fIoptions\\fR] [\\fIfile and names\\fR]",
            ".SH DESCRIPTION", Self.escaped(discussion), ".SH COMMANDS",
        ]
        for command in commands { lines += Self.section(of: command, in: name) }
        lines += [
            ".SH FILES", ".TP", "\\fIopq.yml\\fR, \\fIopq.yaml\\fR",
            "The workflow that runs without the name of a file, here or in a folder above.",
            ".TP", "\\fI.opq/\\fR", "The journal and the logs, beside the workflow.",
        ]
        return lines.joined(separator: "\n")
    }

    private static func section(of command: any Command.Type, in program: String) -> [String] {
        let description = command.description
        var lines = [".SS \(program) \(description.name)", escaped(description.abstract)]
        if let discussion = description.discussion { lines += [".PP", escaped(discussion)] }
        if let operands = command.operandDescription {
            lines += [".TP", "[\\fI\(escaped(operands.name))\\fR]", escaped(operands.help)]
        }
        for option in command.optionDescriptions {
            let forms = [option.short.map { "-\($0)" }, "--\(option.name)"].compactMap(\.self)
            let names = forms.map { "\\fB\(escaped($0))\\fR" }.joined(separator: ", ")
            let value = option.placeholder.map { " \\fI\(escaped(option.isOptional ? "[\($0)]" : $0))\\fR" } ?? ""
            lines += [".TP", names + value, escaped(option.help)]
        }
        return lines
    }

    /// Returns text in which nothing is a command of man.
    private static func escaped(_ text: some StringProtocol) -> String {
        let text = String(text).replacing("\\", with: "\\e").replacing("-", with: "\\-")
        return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
    }
}
