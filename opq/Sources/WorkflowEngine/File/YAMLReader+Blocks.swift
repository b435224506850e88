/// The forms that a node of a block may have.
struct BlockPlace {
    /// Whether a collection may begin in the same line, as in `- a: b`.
    let mayBeCompact: Bool
    /// Whether a list may have the indentation of the map that holds it.
    let mayBeIndentless: Bool

    static var entry: Self { Self(mayBeCompact: true, mayBeIndentless: false) }
    static var value: Self { Self(mayBeCompact: false, mayBeIndentless: true) }
    /// After `?`, and after the `:` that belongs to it.
    static var explicit: Self { Self(mayBeCompact: true, mayBeIndentless: true) }
}

extension YAMLReader {
    /// Reads a node that is indented by more than `parent` columns. An omitted node is null.
    mutating func blockNode(in parent: Int, _ place: BlockPlace) throws(Diagnostic) -> YAMLNode {
        let omission = position()
        var isFirst = try skipToBlockToken()
        guard hasBlockNode(in: parent, place, isFirst: isFirst) else {
            return node(.scalar("", .null), Properties(), at: omission)
        }
        let position = position()
        let outer = try properties()
        guard !outer.isEmpty, isAtLineEnd else {
            return try blockContent(
                in: parent, at: position, mayHoldBlock: isFirst || place.mayBeCompact, inline: outer)
        }
        // The properties belong to the node of the next lines. A key in it may have properties of its own.
        isFirst = try skipToBlockToken()
        guard hasBlockNode(in: parent, place, isFirst: isFirst) else {
            return node(.scalar("", outer.kind ?? .null), outer, at: position)
        }
        let inner = self.position()
        let content = try blockContent(in: parent, at: inner, mayHoldBlock: true, inline: properties())
        return node(content.content, outer, at: position)
    }

    private var isAtLineEnd: Bool { isAtEnd || isBreak(current) || current == UInt8(ascii: "#") }

    private func hasBlockNode(in parent: Int, _ place: BlockPlace, isFirst: Bool) -> Bool {
        if isAtEnd || isAtMarker { return false }
        if !isFirst || column > parent { return true }
        return place.mayBeIndentless && column == parent && isAtIndicator("-")
    }

    /// Reads a node after its properties.
    ///
    /// - Parameter inline: Properties in the same line. They belong to the key, if the node is a map that begins with a key.
    private mutating func blockContent(
        in parent: Int, at position: SourcePosition, mayHoldBlock: Bool, inline: Properties
    ) throws(Diagnostic) -> YAMLNode {
        let column = inline.isEmpty ? self.column : inline.column
        if isAtIndicator("-") {
            guard mayHoldBlock, inline.isEmpty else {
                throw invalid(
                    "an entry of a list must begin in a line of its own", at: self.position(), remedy: Self.wholeValue)
            }
            let content = try nested(at: position) { (reader) throws(Diagnostic) in
                try reader.blockSequence(at: column, isIndentless: column == parent)
            }
            return node(content, Properties(), at: position)
        }
        let key: YAMLNode?
        switch current {
        case UInt8(ascii: "|"), UInt8(ascii: ">"):
            return node(.scalar(try blockScalar(in: parent), inline.kind ?? .string), inline, at: position)
        case UInt8(ascii: "?") where isBlankOrEnd(following):
            guard mayHoldBlock else { throw strayColon }
            key = nil
        case UInt8(ascii: ":") where isBlankOrEnd(following):
            guard mayHoldBlock else { throw strayColon }
            key = node(.scalar("", .null), inline, at: position)
        default:
            let line = self.line
            let value = try inlineNode(in: parent, inFlow: false, inline, at: position)
            let end = mark
            skipBlanks()
            guard isAtIndicator(":") else {
                move(to: end)
                return value
            }
            guard mayHoldBlock, self.line == line else { throw strayColon }
            key = value
        }
        let content = try nested(at: position) { (reader) throws(Diagnostic) in
            try reader.blockMapping(at: column, firstKey: key)
        }
        return node(content, Properties(), at: position)
    }

    private mutating func blockSequence(at column: Int, isIndentless: Bool) throws(Diagnostic) -> YAMLNode.Content {
        var nodes: [YAMLNode] = []
        repeat {
            guard isAtIndicator("-") else {
                if isIndentless { break }
                throw invalid("expected '-' and a space, as in the entries above", at: position())
            }
            offset += 1
            nodes.append(try blockNode(in: column, .entry))
        } while try hasEntry(at: column, called: "an entry of the list")
        return .sequence(nodes)
    }

    /// Reads a map.
    ///
    /// - Parameter firstKey: The key before the next colon. `nil` if the map begins with `?`.
    private mutating func blockMapping(at column: Int, firstKey: YAMLNode?) throws(Diagnostic) -> YAMLNode.Content {
        var pairs: [YAMLNode.Pair] = []
        var key = firstKey
        repeat {
            if key == nil { key = try implicitKey(at: column) }
            if let implicit = key {
                offset += 1
                pairs.append(YAMLNode.Pair(key: implicit, value: try blockNode(in: column, .value)))
            } else {
                pairs.append(try explicitPair(at: column))
            }
            key = nil
        } while try hasEntry(at: column, called: "a key")
        return .mapping(pairs)
    }

    /// Reads a key before its colon. `nil` if the key begins with `?`.
    private mutating func implicitKey(at column: Int) throws(Diagnostic) -> YAMLNode? {
        if isAtIndicator("?") { return nil }
        let (position, line) = (position(), line)
        let properties = try properties()
        if isAtIndicator(":") { return node(.scalar("", .null), properties, at: position) }
        if isAtIndicator("-") { throw invalid("expected a key, found an entry of a list", at: position) }
        let key = try inlineNode(in: column, inFlow: false, properties, at: position)
        skipBlanks()
        guard isAtIndicator(":"), self.line == line else {
            throw invalid("expected ':' and a space after a key", at: position)
        }
        return key
    }

    private mutating func explicitPair(at column: Int) throws(Diagnostic) -> YAMLNode.Pair {
        offset += 1
        let key = try blockNode(in: column, .explicit)
        let end = position()
        guard try skipToBlockToken(), self.column == column, isAtIndicator(":") else {
            return YAMLNode.Pair(key: key, value: node(.scalar("", .null), Properties(), at: end))
        }
        offset += 1
        return YAMLNode.Pair(key: key, value: try blockNode(in: column, .explicit))
    }

    /// Whether the collection at `column` continues.
    private mutating func hasEntry(at column: Int, called name: String) throws(Diagnostic) -> Bool {
        let isFirst = try skipToBlockToken()
        if isAtEnd || isFirst && self.column < column || isAtMarker { return false }
        guard isFirst else { throw isAtIndicator(":") ? strayColon : textAfterValue }
        guard self.column == column else {
            throw invalid("expected \(name) in column \(column + 1), as above", at: position())
        }
        return true
    }

    private var strayColon: Diagnostic {
        mutating get {
            invalid(
                "found a colon inside of a value", at: position(),
                remedy: "put a value that holds a colon before a space in quotes")
        }
    }
}
