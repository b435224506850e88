/// A node of a YAML document, with its place. An alias is represented by the node to which it refers.
struct YAMLNode: Sendable {
    /// The contents of a node.
    enum Content: Sendable {
        /// The text of a scalar, and the meaning that YAML gives it. A quoted scalar is a string.
        case scalar(String, ScalarKind)
        case sequence([YAMLNode])
        case mapping([Pair])
    }

    /// A key and its value in a map.
    struct Pair: Sendable {
        let key: YAMLNode
        let value: YAMLNode
    }

    let content: Content
    let position: SourcePosition

    /// Creates a node.
    init(_ content: Content, at position: SourcePosition) {
        self.content = content
        self.position = position
    }

    /// The text of a scalar. `nil` for other nodes.
    var string: String? { if case .scalar(let string, _) = content { string } else { nil } }
    /// The nodes of a list. `nil` for other nodes.
    var sequence: [YAMLNode]? { if case .sequence(let nodes) = content { nodes } else { nil } }
    /// The keys and values of a map, in the order of the file. A key may occur more than once. `nil` for other nodes.
    var mapping: [Pair]? { if case .mapping(let pairs) = content { pairs } else { nil } }

    /// The meaning of a scalar. `nil` for other nodes.
    var scalarKind: ScalarKind? { if case .scalar(_, let kind) = content { kind } else { nil } }
    /// The value of a whole number in decimal digits. `nil` for all other forms of numbers.
    var int: Int? { scalarKind == .integer ? string.flatMap { Int($0) } : nil }
    /// The Boolean value of a scalar.
    var bool: Bool? { if case .boolean(let value) = scalarKind { value } else { nil } }
    /// Whether the node is a number, in any form that YAML knows.
    var isNumber: Bool { scalarKind == .integer || scalarKind == .number }
    /// Whether the value is omitted, `~` or `null`.
    var isNull: Bool { scalarKind == .null }
    /// Whether the node is the key `<<`, whose value is merged into the map.
    var isMergeKey: Bool { scalarKind == .merge }

    /// The description of the node in messages.
    var kind: String {
        switch content {
        case .mapping: "a map"
        case .sequence: "a list"
        case .scalar(let string, let kind):
            switch kind {
            case .null: "nothing"
            case .integer, .number: "the number \(string)"
            case .boolean: "the boolean \(string)"
            case .string, .merge: "the string '\(string)'"
            }
        }
    }
}
