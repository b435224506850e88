/// The program that runs the text of a command.
public enum Shell: Hashable, Sendable {
    /// A shell with the grammar of POSIX, by its name or path, such as `sh` or `/bin/bash`.
    case posix(String)
    /// A program and its arguments, which the text follows as the last argument.
    case program([String])

    /// The shell of files that name none.
    public static let standard = Shell.posix("/bin/sh")

    /// The names of the shells with the grammar of POSIX.
    static let posixNames: Set<String> = ["sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"]

    /// The option that makes an interpreter run its next argument, for interpreters without `-c`.
    private static let options = ["node": "-e", "perl": "-e", "ruby": "-e", "php": "-r", "pwsh": "-Command"]

    /// Creates a shell from the words of a file: the name of a shell, or a program with its arguments.
    ///
    /// A program without arguments gets its option for a text, which is `-c` for most. A list of words is kept as it is.
    init(_ words: [String], isList: Bool) {
        let name = words[0].lastPathComponent
        if !isList, words.count == 1 {
            self = Self.posixNames.contains(name) ? .posix(words[0]) : .program([words[0], Self.options[name] ?? "-c"])
        } else {
            self = .program(words)
        }
    }

    /// Whether the text of a command has the grammar of POSIX, so that placeholders in it can stand for variables.
    public var isPOSIX: Bool {
        switch self {
        case .posix: true
        case .program(let words):
            Self.posixNames.contains(words[0].lastPathComponent) && words.last?.hasSuffix("c") == true
        }
    }

    /// Returns the program and the arguments that run a text.
    ///
    /// A text of several lines stops at its first failing line. A pipeline fails if one of its commands fails, in shells that
    /// know the option.
    public func arguments(for text: String) -> [String] {
        guard case .posix(let program) = self else {
            guard case .program(let words) = self else { return [] }
            return words + [text]
        }
        var arguments = [program]
        if text.isMultiline { arguments.append("-e") }
        if Self.pipefailNames.contains(program.lastPathComponent) { arguments += ["-o", "pipefail"] }
        return arguments + ["-c", text]
    }

    private static let pipefailNames: Set<String> = ["bash", "ksh", "mksh", "zsh"]
}

extension String {
    /// The text after the last slash.
    var lastPathComponent: String {
        utf8.lastIndex(of: UInt8(ascii: "/")).map { String(self[utf8.index(after: $0)...]) } ?? self
    }

    /// Whether the text has more than one line. Line feeds at its end do not count.
    fileprivate var isMultiline: Bool {
        guard let end = utf8.lastIndex(where: { $0 != UInt8(ascii: "\n") }) else { return false }
        return utf8[..<end].contains(UInt8(ascii: "\n"))
    }
}
