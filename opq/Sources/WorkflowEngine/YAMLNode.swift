internal import Yams

/// A node of a YAML document, with its place. Aliases are the node they stand for.
final class YAMLNode: Sendable {
    /// What a node holds.
    enum Content: Sendable {
        /// The string, and whether it was in quotes or has an explicit tag.
        case scalar(String, tag: String?)
        case sequence([YAMLNode])
        case mapping([(key: YAMLNode, value: YAMLNode)])
    }

    let content: Content
    let position: SourcePosition

    /// A node at a place.
    init(_ content: Content, at position: SourcePosition) {
        self.content = content
        self.position = position
    }

    /// The text of a scalar.
    var string: String? { if case .scalar(let string, _) = content { string } else { nil } }
    /// The nodes of a list.
    var sequence: [YAMLNode]? { if case .sequence(let nodes) = content { nodes } else { nil } }
    /// The keys and values of a map, in their order; a key may be there more than once.
    var mapping: [(key: YAMLNode, value: YAMLNode)]? { if case .mapping(let pairs) = content { pairs } else { nil } }

    /// The whole number that a scalar spells.
    var int: Int? { tagName == .int ? scalar?.int : nil }
    /// The truth value that a scalar spells.
    var bool: Bool? { tagName == .bool ? scalar?.bool : nil }
    /// Whether it is a number.
    var isNumber: Bool { tagName == .int || tagName == .float }
    /// Whether nothing, or `~` or `null`, is written there.
    var isNull: Bool { tagName == .null }

    /// What a message calls this node.
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

    /// The tag by the rules of YAML; quoted scalars are strings.
    private var tagName: Tag.Name? { scalar.map { Resolver.default.resolveTag(of: $0) } }

    private var scalar: Node? {
        guard case .scalar(let string, let tag) = content else { return nil }
        return Node(string, Tag(tag.map(Tag.Name.init(rawValue:)) ?? .implicit))
    }
}
