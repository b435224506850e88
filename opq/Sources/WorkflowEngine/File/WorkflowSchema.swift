/// The JSON Schema of workflow files, for editors. It is generated from the tables that the parser uses.
public enum WorkflowSchema {
    /// The schema as JSON text, by draft 7, which all editors know.
    public static var text: String { JSON.object(root).text(indent: 0) + "\n" }

    private static var root: [(String, JSON)] {
        [
            ("$schema", "http://json-schema.org/draft-07/schema#"), ("title", "Workflow of opq"),
        ] + schema(of: .workflow, required: ["operations"])
    }

    private static func schema(of table: KeyTable, required: [String] = []) -> [(String, JSON)] {
        let keys = table.keys.filter { !WorkflowParser.pending.contains($0.name) }
        return [
            ("type", "object"),
            (
                "properties",
                .object(keys.map { ($0.name, .object([("description", .string($0.text))] + schema(of: $0.form))) })
            ),
            // The key `<<` merges a map.
            ("patternProperties", .object([("^x-|^<<$", .object([]))])),
            ("additionalProperties", .boolean(false)),
        ]
            + (required.isEmpty
                ? []
                : [
                    (
                        "anyOf",
                        .array(
                            [required, ["include"]].map { names in
                                .object([("required", .array(names.map { .string($0) }))])
                            })
                    )
                ])
    }

    private static func schema(of form: KeyTable.Form) -> [(String, JSON)] {
        switch form {
        case .string: [("type", .array(["string", "boolean"]))]
        case .text: [("type", .array(["string", "number", "boolean"]))]
        case .flag: [("type", "boolean")]
        case .count(let least): [("type", "integer"), ("minimum", .integer(least))]
        case .factor: [("type", "number"), ("minimum", .integer(1))]
        case .duration: [("type", "string"), ("pattern", "^([0-9]+(d|h|m|s|ms))+$")]
        case .rate: [("type", "string"), ("pattern", "^[0-9]+/([0-9]+(d|h|m|s|ms))+$|^[0-9]+/(d|h|m|s)$")]
        case .choice(let names): [("enum", .array(names.map { .string($0) }))]
        case .list(let form):
            [("anyOf", .array([.object(schema(of: form)), .object(schema(of: .sequence(form)))]))]
        case .sequence(let form):
            [("type", "array"), ("items", .object(schema(of: form))), ("minItems", .integer(1))]
        case .map(let form): [("type", "object"), ("additionalProperties", .object(schema(of: form)))]
        case .keys(let table): schema(of: table)
        case .either(let forms): [("anyOf", .array(forms.map { .object(schema(of: $0)) }))]
        case .nothing: [("type", "null")]
        }
    }
}

/// A value of JSON.
private indirect enum JSON: ExpressibleByStringLiteral {
    case string(String)
    case integer(Int)
    case boolean(Bool)
    case array([JSON])
    case object([(String, JSON)])

    init(stringLiteral value: String) { self = .string(value) }

    func text(indent: Int) -> String {
        let (outer, inner) = (String(repeating: "  ", count: indent), String(repeating: "  ", count: indent + 1))
        switch self {
        case .string(let string): return Self.quoted(string)
        case .integer(let integer): return "\(integer)"
        case .boolean(let boolean): return "\(boolean)"
        case .array(let values): return "[" + values.map { $0.text(indent: indent + 1) }.joined(separator: ", ") + "]"
        case .object(let members):
            if members.isEmpty { return "{}" }
            let lines = members.map { "\(inner)\(Self.quoted($0)): \($1.text(indent: indent + 1))" }
            return "{\n\(lines.joined(separator: ",\n"))\n\(outer)}"
        }
    }

    private static func quoted(_ string: String) -> String {
        "\"" + string.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}
