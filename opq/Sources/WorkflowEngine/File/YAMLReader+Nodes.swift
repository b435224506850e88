extension YAMLReader {
    /// The anchor and the tag before a node.
    struct Properties {
        var anchor: String?
        /// The meaning that a tag gives a scalar.
        var kind: ScalarKind?
        /// The column of the first of them, from 0.
        var column = 0

        var isEmpty: Bool { anchor == nil && kind == nil }
    }

    /// Reads the properties of a node in this line, and the blanks after them.
    mutating func properties() throws(Diagnostic) -> Properties {
        var found = Properties(column: column)
        while true {
            switch current {
            case UInt8(ascii: "&") where found.anchor == nil: found.anchor = try name()
            case UInt8(ascii: "!") where found.kind == nil: found.kind = tag()
            default: return found
            }
            guard isBlankOrEnd(current) || isFlowIndicator(current) else {
                throw invalid("expected a blank after an anchor or a tag", at: position(), remedy: Self.wholeValue)
            }
            skipBlanks()
        }
    }

    /// Reads the name of an anchor after `&` or `*`.
    private mutating func name() throws(Diagnostic) -> String {
        let indicator = Character(Unicode.Scalar(current))
        offset += 1
        let start = offset
        while current.isInName || current == UInt8(ascii: "-") { offset += 1 }
        guard offset > start else {
            throw invalid(
                "expected the name of an anchor after '\(indicator)'", at: position(), remedy: Self.wholeValue)
        }
        return String(decoding: text[start..<offset], as: UTF8.self)
    }

    private mutating func tag() -> ScalarKind {
        let start = offset
        let isVerbatim = following == UInt8(ascii: "<")
        while !isBlankOrEnd(current), isVerbatim || !isFlowIndicator(current) { offset += 1 }
        let tag = String(decoding: text[start..<offset], as: UTF8.self)
        return tag == "!!null" || tag == "!<tag:yaml.org,2002:null>" ? .null : .string
    }

    /// Returns a node, and remembers it by its anchor.
    mutating func node(
        _ content: YAMLNode.Content, _ properties: Properties, at position: SourcePosition
    ) -> YAMLNode {
        let node = YAMLNode(content, at: position)
        if let anchor = properties.anchor { anchors[anchor] = node }
        return node
    }

    /// Reads a node that may be a key: an alias, a collection in brackets, or a scalar.
    ///
    /// - Parameter parent: The indentation that the later lines of a plain scalar must exceed.
    mutating func inlineNode(
        in parent: Int, inFlow: Bool, _ properties: Properties, at position: SourcePosition
    ) throws(Diagnostic) -> YAMLNode {
        let content: YAMLNode.Content
        switch current {
        case UInt8(ascii: "*"):
            let name = try name()
            guard properties.isEmpty, let node = anchors[name] else {
                throw invalid("there is no anchor '&\(name)' above", at: position)
            }
            return node
        case UInt8(ascii: "["):
            content = try nested(at: position) { (reader) throws(Diagnostic) in try reader.flowSequence() }
        case UInt8(ascii: "{"):
            content = try nested(at: position) { (reader) throws(Diagnostic) in try reader.flowMapping() }
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            content = .scalar(try quoted(), properties.kind ?? .string)
        default:
            content = try plain(in: parent, inFlow: inFlow, kind: properties.kind)
        }
        return node(content, properties, at: position)
    }
}
