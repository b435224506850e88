extension CommandProgram {
    /// Returns the completions for bash, zsh or fish. `nil` for another shell.
    func completions(for shell: String) -> String? {
        switch shell {
        case "bash": bashCompletions
        case "zsh": zshCompletions
        case "fish": fishCompletions
        default: nil
        }
    }

    private var commandNames: String { commands.map { $0.description.name }.joined(separator: " ") }

    // MARK: - bash

    private var bashCompletions: String {
        var values: [String] = []
        var options: [String] = []
        for command in commands {
            let name = command.description.name
            var words: [String] = ["--help"]
            for option in command.optionDescriptions {
                let forms = ["--\(option.name)"] + (option.short.map { ["-\($0)"] } ?? [])
                words += forms
                guard option.placeholder != nil, !option.isOptional else { continue }
                let pattern = forms.map { "\(name):\($0)" }.joined(separator: "|")
                switch option.value {
                case .choice(let choices):
                    let list = choices.joined(separator: " ")
                    values.append("        \(pattern)) COMPREPLY=($(compgen -W '\(list)' -- \"$word\")); return ;;")
                case .path, .workflow:
                    values.append("        \(pattern)) COMPREPLY=($(compgen -f -- \"$word\")); return ;;")
                case .text: values.append("        \(pattern)) return ;;")
                }
            }
            options.append("        \(name)) options='\(words.joined(separator: " "))' ;;")
        }
        return """
            # The completions of \(name) for bash.
            _\(name)() {
                local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} options=
                COMPREPLY=()
                if ((COMP_CWORD == 1)); then
                    COMPREPLY=($(compgen -W '\(commandNames) help --help --version' -- "$word"))
                    return
                fi
                case ${COMP_WORDS[1]}:$before in
            \(values.joined(separator: "\n"))
                esac
                case ${COMP_WORDS[1]} in
            \(options.joined(separator: "\n"))
                    help) options='\(commandNames)'; COMPREPLY=($(compgen -W "$options" -- "$word")); return ;;
                esac
                if [[ $word == -* ]]; then
                    COMPREPLY=($(compgen -W "$options" -- "$word"))
                else
                    COMPREPLY=($(for end in yml yaml; do compgen -f -X "!*.$end" -- "$word"; done; compgen -d -- "$word"))
                fi
            }
            complete -o filenames -F _\(name) \(name)
            """
    }

    // MARK: - zsh

    private var zshCompletions: String {
        var cases: [String] = []
        for command in commands {
            var specifications: [String] = ["'(- *)'{-h,--help}'[print the help]'"]
            for option in command.optionDescriptions {
                specifications += Self.zshSpecifications(of: option)
            }
            if let operands = command.operandDescription {
                specifications.append("'*:\(operands.name):_files -g \"*.(yml|yaml)\"'")
            }
            cases.append(
                "        \(command.description.name))\n            _arguments -s "
                    + specifications.joined(separator: " \\\n                ") + "\n            ;;")
        }
        let names = commands.map { "'\($0.description.name):\(Self.zshQuoted($0.description.abstract))'" }
        return """
            #compdef \(name)
            # The completions of \(name) for zsh.
            _\(name)() {
                local -a names
                names=(\(names.joined(separator: " ")))
                if ((CURRENT == 2)); then
                    _describe command names
                    return
                fi
                local name=$words[2]
                words=("${(@)words[2,-1]}")
                ((CURRENT--))
                case $name in
            \(cases.joined(separator: "\n"))
                esac
            }
            if [ "$funcstack[1]" = _\(name) ]; then _\(name) "$@"; else compdef _\(name) \(name); fi
            """
    }

    private static func zshSpecifications(of option: OptionDescription) -> [String] {
        var value = ""
        if let placeholder = option.placeholder {
            let action =
                switch option.value {
                case .choice(let words): "(\(words.joined(separator: " ")))"
                case .path, .workflow: "_files"
                case .text: ""
                }
            value = "\(option.isOptional ? "::" : ":")\(placeholder.replacing("|", with: " ")):\(action)"
        }
        let forms = [option.short.map { "-\($0)" }, "--\(option.name)"].compactMap(\.self)
        return forms.map { form in
            let sign = option.placeholder == nil || option.isOptional ? "" : form.hasPrefix("--") ? "=" : "+"
            return "'*\(form)\(sign)[\(zshQuoted(option.help))]\(value)'"
        }
    }

    private static func zshQuoted(_ text: String) -> String {
        text.replacing("'", with: "'\\''").replacing("[", with: "\\[").replacing("]", with: "\\]")
            .replacing(":", with: "\\:")
    }

    // MARK: - fish

    private var fishCompletions: String {
        var lines = ["# The completions of \(name) for fish.", "complete -c \(name) -f"]
        for command in commands {
            let description = command.description
            let text = Self.fishQuoted(description.abstract)
            lines.append("complete -c \(name) -n __fish_use_subcommand -a \(description.name) -d '\(text)'")
            let condition = "complete -c \(name) -n '__fish_seen_subcommand_from \(description.name)'"
            for option in command.optionDescriptions {
                let short = option.short.map { " -s \($0)" } ?? ""
                var value = ""
                if option.placeholder != nil, !option.isOptional {
                    switch option.value {
                    case .choice(let words): value = " -x -a '\(words.joined(separator: " "))'"
                    case .path, .workflow: value = " -r -F"
                    case .text: value = " -x"
                    }
                }
                lines.append("\(condition)\(short) -l \(option.name)\(value) -d '\(Self.fishQuoted(option.help))'")
            }
            if command.operandDescription != nil {
                lines.append("\(condition) -k -a '(__fish_complete_suffix .yml .yaml)'")
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func fishQuoted(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
    }
}
