/// The documentation of an option, or of the words that are no options.
public struct OptionDescription: Sendable {
    /// The words that may follow an option.
    public enum Value: Sendable {
        /// Any text.
        case text
        /// The path of a file or of a folder.
        case path
        /// The path of a workflow file, or the name of an operation.
        case workflow
        /// One of some words.
        case choice([String])
    }

    /// The name without dashes. For words that are no options, their name in the help.
    public let name: String
    /// The letter for one dash.
    public var short: Character?
    /// The name of the value in the help. `nil` for a flag.
    public var placeholder: String?
    /// The values.
    public var value = Value.text
    /// Whether the value may be omitted.
    public var isOptional = false
    /// One sentence or two.
    public let help: String

    /// The option with its dashes and its value, as in `--jobs <number>`.
    var usage: String {
        "--\(name)" + (placeholder.map { isOptional ? " [<\($0)>]" : " <\($0)>" } ?? "")
    }
}

/// An option of a command, or the words that are no options.
public struct CommandOption<Target> {
    /// The documentation.
    public let description: OptionDescription
    /// Sets the value. A flag, and an option without its optional value, get `nil`.
    let set: (inout Target, String?) throws(UsageError) -> Void

    /// An option without a value.
    public static func flag(
        _ name: String, short: Character? = nil, _ help: String, _ set: @escaping (inout Target) -> Void
    ) -> Self {
        Self(description: OptionDescription(name: name, short: short, help: help)) { target, _ in set(&target) }
    }

    /// An option with a value.
    ///
    /// - Parameter placeholder: The name of the value in the help.
    public static func text(
        _ name: String, short: Character? = nil, _ placeholder: String, _ help: String,
        value: OptionDescription.Value = .text, _ set: @escaping (inout Target, String) throws(UsageError) -> Void
    ) -> Self {
        var description = OptionDescription(name: name, short: short, placeholder: placeholder, help: help)
        description.value = value
        return Self(description: description) { (target, text) throws(UsageError) in try set(&target, text ?? "") }
    }

    /// An option whose value is a whole number in decimal digits, without a sign or a zero first.
    ///
    /// - Parameter least: The smallest value.
    public static func number(
        _ name: String, short: Character? = nil, placeholder: String = "number", least: Int = 0, _ help: String,
        _ set: @escaping (inout Target, Int) -> Void
    ) -> Self {
        text(name, short: short, placeholder, help) { (target, text) throws(UsageError) in
            set(&target, try parsedNumber(text, of: name, least: least))
        }
    }

    /// An option with a whole number that may be omitted.
    public static func optionalNumber(
        _ name: String, placeholder: String = "number", _ help: String,
        _ set: @escaping (inout Target, Int?) throws(UsageError) -> Void
    ) -> Self {
        let description = OptionDescription(name: name, placeholder: placeholder, isOptional: true, help: help)
        return Self(description: description) { (target, text) throws(UsageError) in
            guard let text else { return try set(&target, nil) }
            try set(&target, try parsedNumber(text, of: name, least: 0))
        }
    }

    private static func parsedNumber(_ text: String, of name: String, least: Int) throws(UsageError) -> Int {
        guard let number = Int(text), String(number) == text, number >= 0 else {
            throw UsageError("--\(name) must be a whole number in decimal digits, found '\(text)'")
        }
        guard number >= least else { throw UsageError("--\(name) must be \(least) or more, found \(number)") }
        return number
    }

    /// An option with one of some words.
    public static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ help: String, _ set: @escaping (inout Target, Choice) -> Void
    ) -> Self {
        let words = Choice.allCases.map(\.rawValue)
        let placeholder = words.joined(separator: "|")
        return text(name, placeholder, help, value: .choice(words)) { (target, text) throws(UsageError) in
            guard let choice = Choice(rawValue: text) else {
                throw UsageError("--\(name) must be one of \(placeholder), found '\(text)'")
            }
            set(&target, choice)
        }
    }

    /// The words that are no options.
    public static func words(
        _ name: String, _ help: String, value: OptionDescription.Value,
        _ add: @escaping (inout Target, String) throws(UsageError) -> Void
    ) -> Self {
        text(name, name, help, value: value, add)
    }

    /// Returns the option for a value that has the target as a field.
    public func lifted<Outer>(_ field: WritableKeyPath<Outer, Target>) -> CommandOption<Outer> {
        CommandOption<Outer>(description: description) { [set] (outer, text) throws(UsageError) in
            try set(&outer[keyPath: field], text)
        }
    }
}
