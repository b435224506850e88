/// A place in a workflow file.
///
/// Lines and columns count from 1; columns count Unicode scalars, as YAML does.
public struct SourcePosition: Hashable, Comparable, Sendable {
    /// The line, from 1.
    public let line: Int
    /// The column, from 1.
    public let column: Int

    /// The place at that line and column.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    public static func < (lhs: Self, rhs: Self) -> Bool {
        (lhs.line, lhs.column) < (rhs.line, rhs.column)
    }
}

/// A value together with the place in the file where it stands.
struct Located<Value> {
    let value: Value
    let position: SourcePosition

    /// `value`, which stands at `position`.
    init(_ value: Value, at position: SourcePosition) {
        self.value = value
        self.position = position
    }
}

extension Located: Sendable where Value: Sendable {}
extension Located: Equatable where Value: Equatable {}

/// One thing that is wrong with a workflow file, and how to mend it.
public struct Diagnostic: Error, Hashable {
    /// Where it stands; `nil` when the file as a whole is at fault, say because it cannot be read.
    public let position: SourcePosition?
    /// What is wrong.
    public let message: String
    /// What to do about it, such as `did you mean 'compress'?`.
    public let mend: String?

    /// A diagnostic of a file to be named later.
    init(_ message: String, at position: SourcePosition? = nil, mend: String? = nil) {
        self.position = position
        self.message = message
        self.mend = mend
    }

    /// The line a compiler would print: `file:line:column: error: message; mend`.
    public func line(in file: String) -> String {
        let place = position.map { "\(file):\($0.line):\($0.column)" } ?? file
        return ("\(place): error: \(message)" + (mend.map { "; \($0)" } ?? "")).visible
    }
}
