/// A place in a workflow file.
///
/// Lines and columns count from 1; columns count Unicode scalars, as YAML does.
public struct SourcePosition: Hashable, Comparable, Sendable {
    /// The line, from 1.
    public let line: Int
    /// The column, from 1.
    public let column: Int

    /// Creates a place from a line and a column.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    public static func < (lhs: Self, rhs: Self) -> Bool {
        (lhs.line, lhs.column) < (rhs.line, rhs.column)
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

/// An error in a workflow file, and the way to fix it.
public struct Diagnostic: Error, Hashable {
    /// The place of the error. `nil` when the error concerns the whole file, for example an unreadable file.
    public let position: SourcePosition?
    /// A description of the error.
    public let message: String
    /// The suggested fix, such as `did you mean 'compress'?`.
    public let remedy: String?

    /// Creates a diagnostic without a file name. ``line(in:)`` adds the name.
    init(_ message: String, at position: SourcePosition? = nil, remedy: String? = nil) {
        self.position = position
        self.message = message
        self.remedy = remedy
    }

    /// Returns the diagnostic in the format of a compiler: `file:line:column: error: message; remedy`.
    public func line(in file: String) -> String {
        let place = position.map { "\(file):\($0.line):\($0.column)" } ?? file
        return ("\(place): error: \(message)" + (remedy.map { "; \($0)" } ?? "")).visible
    }
}
