public import DurableCore

/// A value of JSON. Objects keep the order of their members.
public enum JSONText: Sendable, Hashable {
    case null
    case boolean(Bool)
    case number(Int64)
    case text(String)
    case list([JSONText])
    case object([Member])

    /// A member of an object.
    public struct Member: Sendable, Hashable {
        public var name: String
        public var value: JSONText

        /// Creates a member.
        public init(_ name: String, _ value: JSONText) { (self.name, self.value) = (name, value) }
    }

    /// Creates a text, or null.
    public init(_ text: String?) { self = text.map(JSONText.text) ?? .null }

    /// Creates a number, or null.
    public init(_ number: Int?) { self = number.map { .number(Int64($0)) } ?? .null }

    /// Creates the identifier of an operation, or null.
    public init(_ id: OperationID?) { self = id.map { .number($0.rawValue) } ?? .null }

    /// Creates an instant in the form `2026-11-25T19:00:05.000000Z`, or null.
    public init(_ instant: DurableInstant?) {
        guard let instant else {
            self = .null
            return
        }
        let text = String(instant.description.dropLast(4).map { $0 == " " ? "T" : $0 })
        let fraction = "\(1_000_000 + (instant.microseconds % 1_000_000 + 1_000_000) % 1_000_000)".dropFirst()
        self = .text("\(text).\(fraction)Z")
    }

    /// Creates an object.
    public static func members(_ members: KeyValuePairs<String, JSONText>) -> JSONText {
        .object(members.map { Member($0.key, $0.value) })
    }

    /// The value in one line. Characters that a terminal would obey or hide are escaped.
    public var line: String {
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .boolean(let value): text += value ? "true" : "false"
        case .number(let value): text += "\(value)"
        case .text(let value): Self.write(value, to: &text)
        case .list(let values):
            text += "["
            for (index, value) in values.enumerated() {
                text += index == 0 ? "" : ","
                value.write(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                text += index == 0 ? "" : ","
                Self.write(member.name, to: &text)
                text += ":"
                member.value.write(to: &text)
            }
            text += "}"
        }
    }

    private static func write(_ value: String, to text: inout String) {
        text += "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"", "\\": text += "\\\(scalar)"
            case "\u{20}"..."\u{7E}": text.unicodeScalars.append(scalar)
            case "\n": text += "\\n"
            case _ where CellText.isVisible(scalar): text.unicodeScalars.append(scalar)
            default:
                for unit in String(scalar).utf16 { text += "\\u\(String(65_536 + Int(unit), radix: 16).dropFirst())" }
            }
        }
        text += "\""
    }
}
