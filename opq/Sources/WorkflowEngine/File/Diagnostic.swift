/// A place in a workflow file.
///
/// Lines and columns count from 1; columns count Unicode scalars, as YAML does.
public struct SourcePosition: Hashable, Comparable, Sendable {
    private let storedLine: UInt32
    private let storedColumn: UInt32
    /// The number of the file in the order of inclusion. 0 is the workflow file itself.
    let file: UInt32

    /// The line, from 1.
    public var line: Int { Int(storedLine) }
    /// The column, from 1.
    public var column: Int { Int(storedColumn) }

    /// Creates a place from a line and a column.
    public init(line: Int, column: Int) { self.init(line: line, column: column, file: 0) }

    /// Creates a place in an included file.
    init(line: Int, column: Int, file: UInt32) {
        storedLine = UInt32(clamping: line)
        storedColumn = UInt32(clamping: column)
        self.file = file
    }

    public static func < (lhs: Self, rhs: Self) -> Bool {
        (lhs.file, lhs.storedLine, lhs.storedColumn) < (rhs.file, rhs.storedLine, rhs.storedColumn)
    }
}

/// A value and its place in the file.
struct Located<Value> {
    let value: Value
    let position: SourcePosition

    /// Creates a located value.
    init(_ value: Value, at position: SourcePosition) {
        self.value = value
        self.position = position
    }
}

extension Located: Sendable where Value: Sendable {}
extension Located: Equatable where Value: Equatable {}

/// An error or a warning about a workflow file, and the way to fix it.
public struct Diagnostic: Error, Hashable {
    /// Whether the file can run.
    public enum Severity: String, Sendable { case error, warning }

    /// Whether the file can run in spite of the diagnostic.
    public let severity: Severity
    /// The path of the included file. `nil` for the workflow file itself.
    public internal(set) var file: String?
    /// The place of the error. `nil` when the error concerns the whole file, for example an unreadable file.
    public let position: SourcePosition?
    /// A description of the error.
    public let message: String
    /// The suggested fix, such as `did you mean 'compress'?`.
    public let remedy: String?

    /// Creates a diagnostic without a file name. ``line(in:)`` adds the name.
    init(
        _ message: String, at position: SourcePosition? = nil, remedy: String? = nil, severity: Severity = .error
    ) {
        self.severity = severity
        self.position = position
        self.message = message
        self.remedy = remedy
    }

    /// Returns the diagnostic in the format of a compiler: `file:line:column: error: message; remedy`.
    ///
    /// - Parameter file: The name of the workflow file. An included file has its own name.
    public func line(in file: String) -> String {
        let file = self.file ?? file
        let place = position.map { "\(file):\($0.line):\($0.column)" } ?? file
        return ("\(place): \(severity.rawValue): \(message)" + (remedy.map { "; \($0)" } ?? "")).visible
    }
}
