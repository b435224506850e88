internal import Yams

/// A node of a YAML document, with its place. An alias is represented by the node to which it refers.
final class YAMLNode: Sendable {
    /// The contents of a node.
    enum Content: Sendable {
        /// A string and its tag. A quoted string has the tag of strings.
        case scalar(String, tag: String?)
        case sequence([YAMLNode])
        case mapping([(key: YAMLNode, value: YAMLNode)])
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
    var mapping: [(key: YAMLNode, value: YAMLNode)]? { if case .mapping(let pairs) = content { pairs } else { nil } }

    /// The integer value of a scalar. nil for a number in base 60, such as `1:30`: YAML 1.2 has none, and its conversion may
    /// overflow.
    var int: Int? { tagName == .int && string?.contains(":") != true ? scalar?.int : nil }
    /// The Boolean value of a scalar.
    var bool: Bool? { tagName == .bool ? scalar?.bool : nil }
    /// Whether the node is a number.
    var isNumber: Bool { tagName == .int || tagName == .float }
    /// Whether the value is omitted, `~` or `null`.
    var isNull: Bool { tagName == .null }

    /// The description of the node in messages.
    var kind: String {
        switch content {
        case .mapping: "a map"
        case .sequence: "a list"
        case .scalar(let string, _):
            switch tagName {
            case .null: "nothing"
            case .int, .float: "the number \(string)"
            case .bool: "the boolean \(string)"
            default: "the string '\(string)'"
            }
        }
    }

    /// The tag of a scalar by the rules of YAML. A quoted scalar is a string.
    private var tagName: Tag.Name? { scalar.map { Resolver.default.resolveTag(of: $0) } }

    private var scalar: Node? {
        guard case .scalar(let string, let tag) = content else { return nil }
        return Node(string, Tag(tag.map(Tag.Name.init(rawValue:)) ?? .implicit))
    }
}
