/// A command of a program. Its options set the fields of a value.
public protocol Command {
    /// The name and the documentation.
    static var description: CommandDescription { get }
    /// The options, in the order of the help.
    static var options: [CommandOption<Self>] { get }
    /// The words that are no options. `nil` if the command takes none.
    static var operands: CommandOption<Self>? { get }

    /// Creates the command without options.
    init()
    /// Checks the options together.
    func validate() throws(UsageError)
    /// Runs the command.
    func run() throws
}

extension Command {
    public static var options: [CommandOption<Self>] { [] }
    public static var operands: CommandOption<Self>? { nil }
    public func validate() throws(UsageError) {}
}

/// The name and the documentation of a command.
public struct CommandDescription: Sendable {
    /// The word that chooses the command.
    public let name: String
    /// One sentence.
    public let abstract: String
    /// More text.
    public let discussion: String?
    /// Whether options are words like others.
    public let takesAnyWords: Bool

    /// Creates a description.
    public init(_ name: String, _ abstract: String, discussion: String? = nil, takesAnyWords: Bool = false) {
        (self.name, self.abstract, self.discussion, self.takesAnyWords) = (name, abstract, discussion, takesAnyWords)
    }
}

/// A wrong use of the command line.
public struct UsageError: Error {
    /// A description of the mistake.
    public let text: String

    /// Creates an error.
    public init(_ text: String) { self.text = text }
}

/// The exit status of a program, as an error that ends it.
public struct ExitCode: Error, Hashable {
    /// The number.
    public let rawValue: Int32

    /// Creates a status.
    public init(_ rawValue: Int32) { self.rawValue = rawValue }

    /// Something failed.
    public static let failure = ExitCode(1)
}
