extension YAMLReader {
    /// Reads a list in brackets.
    mutating func flowSequence() throws(Diagnostic) -> YAMLNode.Content {
        var nodes: [YAMLNode] = []
        try flowEntries(until: "]") { (reader, position) throws(Diagnostic) in
            let isExplicit = reader.skipExplicitKey()
            let key = try reader.flowNode(mayBeOmitted: isExplicit)
            reader.skipSeparation()
            if reader.current == UInt8(ascii: ":") || isExplicit {
                let pair = YAMLNode.Pair(key: key, value: try reader.flowValue())
                nodes.append(YAMLNode(.mapping([pair]), at: position))
            } else {
                nodes.append(key)
            }
        }
        return .sequence(nodes)
    }

    /// Reads a map in braces.
    mutating func flowMapping() throws(Diagnostic) -> YAMLNode.Content {
        var pairs: [YAMLNode.Pair] = []
        try flowEntries(until: "}") { (reader, _) throws(Diagnostic) in
            let isExplicit = reader.skipExplicitKey()
            let key = try reader.flowNode(mayBeOmitted: isExplicit)
            reader.skipSeparation()
            pairs.append(YAMLNode.Pair(key: key, value: try reader.flowValue()))
        }
        return .mapping(pairs)
    }

    private mutating func flowEntries(
        until close: Unicode.Scalar, _ entry: (inout Self, SourcePosition) throws(Diagnostic) -> Void
    ) throws(Diagnostic) {
        let (opening, open) = (position(), Character(Unicode.Scalar(current)))
        offset += 1
        while true {
            skipSeparation()
            if current == UInt8(ascii: close) { break }
            guard !isAtEnd, !isAtMarker else {
                throw invalid("the '\(open)' has no '\(Character(close))'", at: opening)
            }
            try entry(&self, position())
            skipSeparation()
            if current == UInt8(ascii: ",") {
                offset += 1
            } else if current != UInt8(ascii: close), !isAtEnd {
                throw invalid(
                    "expected ',' or '\(Character(close))'", at: position(),
                    remedy: "put a value that holds {, }, [, ], a comma, or a colon before a space in quotes")
            }
        }
        offset += 1
    }

    private mutating func skipExplicitKey() -> Bool {
        guard isAtIndicator("?") else { return false }
        offset += 1
        skipSeparation()
        return true
    }

    /// Reads the value after a key. It is null without a colon.
    private mutating func flowValue() throws(Diagnostic) -> YAMLNode {
        let omission = position()
        guard current == UInt8(ascii: ":") else { return node(.scalar("", .null), Properties(), at: omission) }
        offset += 1
        skipSeparation()
        return try flowNode(mayBeOmitted: true)
    }

    private mutating func flowNode(mayBeOmitted: Bool) throws(Diagnostic) -> YAMLNode {
        let position = position()
        let properties = try properties()
        if !properties.isEmpty { skipSeparation() }
        switch current {
        case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"),
            UInt8(ascii: ":") where isBlankOrEnd(following) || isFlowIndicator(following):
            guard mayBeOmitted || !properties.isEmpty else {
                throw invalid("expected a value before '\(Character(Unicode.Scalar(current)))'", at: position)
            }
            return node(.scalar("", properties.kind ?? .null), properties, at: position)
        case 0 where isAtEnd: return node(.scalar("", .null), properties, at: position)
        default: return try inlineNode(in: -1, inFlow: true, properties, at: position)
        }
    }
}
