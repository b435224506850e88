internal import Yams

extension WorkflowParser {
    /// A key of a mapping with its value.
    struct Entry {
        /// The key, which is not empty.
        let key: Located<String>
        /// The value, which may be left out.
        let value: Node

        /// Where the value stands or, if it is left out, its key.
        var position: SourcePosition {
            value.isNull ? key.position : SourcePosition(value.mark) ?? key.position
        }
    }

    /// The entries of a mapping whose keys must be among `keys`.
    mutating func entries(
        of node: Node, as owner: String, at position: SourcePosition, keys: [String]
    ) -> [Entry] {
        guard node.mapping != nil else {
            report(
                "\(owner) must be a map, found \(node.kind)",
                at: node.isNull ? position : SourcePosition(node.mark) ?? position,
                mend: "its keys are \(keys.joined(separator: ", "))")
            return []
        }
        return entries(of: node).filter { entry in
            if keys.contains(entry.key.value) { return true }
            report(
                "unknown key '\(entry.key.value)' in \(owner)", at: entry.key.position,
                mend: suggestion(for: entry.key.value, among: keys))
            return false
        }
    }

    /// The entries of the mapping that `entry` holds, with any keys.
    mutating func mapping(in entry: Entry) -> [Entry] {
        guard entry.value.mapping != nil else {
            mismatch(in: entry, expected: "a map")
            return []
        }
        return entries(of: entry.value)
    }

    private mutating func entries(of node: Node) -> [Entry] {
        var firstPlaces: [String: SourcePosition] = [:]
        return (node.mapping.map(Array.init) ?? []).compactMap { key, value in
            let position = SourcePosition(key.mark) ?? SourcePosition(line: 1, column: 1)
            guard let key = key.scalar?.string, !key.isEmpty else {
                report("a key must be a name, found \(key.kind)", at: position)
                return nil
            }
            let name = document?.nameOfRepeatedKey(key) ?? key
            if let first = firstPlaces.updateValue(firstPlaces[name] ?? position, forKey: name) {
                report(
                    "duplicate key '\(name)'", at: position,
                    mend: "it is given at line \(first.line) already: keep one of them")
            }
            return Entry(key: Located(name, at: position), value: value)
        }
    }

    /// The string that `entry` holds.
    ///
    /// Words that YAML takes for booleans pass as text, since `true` is a shell command as well.
    mutating func string(in entry: Entry, orNumber: Bool = false) -> Located<String>? {
        let text = text(of: entry.value, orNumber: orNumber)
        if text == nil { mismatch(in: entry, expected: orNumber ? "a string, a number or a boolean" : "a string") }
        return text.map { Located($0, at: entry.position) }
    }

    /// The strings that `entry` holds: one, or a list of them.
    mutating func strings(in entry: Entry, orNumbers: Bool = false) -> [Located<String>] {
        guard let list = entry.value.sequence else {
            guard let text = text(of: entry.value, orNumber: orNumbers) else {
                mismatch(in: entry, expected: "a string or a list of strings")
                return []
            }
            return [Located(text, at: entry.position)]
        }
        return list.compactMap { node in
            let key = Located(entry.key.value, at: SourcePosition(node.mark) ?? entry.position)
            return string(in: Entry(key: key, value: node), orNumber: orNumbers)
        }
    }

    /// The truth value that `entry` holds.
    mutating func bool(in entry: Entry) -> Bool? {
        if entry.value.tagName == .bool, let bool = entry.value.bool { return bool }
        mismatch(in: entry, expected: "true or false")
        return nil
    }

    /// Reports that `entry` holds something else than expected.
    mutating func mismatch(in entry: Entry, expected: String) {
        // `queue: {item}` is a map with the key `item` to YAML.
        let isBarePlaceholder = entry.value.mapping?.keys.first?.scalar?.string.hasPrefix("item") == true
        let isNumber = [.int, .float].contains(entry.value.tagName)
        report(
            "'\(entry.key.value)' must be \(expected), found \(entry.value.kind)", at: entry.position,
            mend: isBarePlaceholder || (isNumber && expected.contains("string")) ? "put it in quotes" : nil)
    }

    private func text(of node: Node, orNumber: Bool) -> String? {
        guard let scalar = node.scalar, !node.isNull else { return nil }
        return orNumber || ![.int, .float].contains(node.tagName) ? scalar.string : nil
    }
}

extension SourcePosition {
    /// The place of a mark, if there is one.
    init?(_ mark: Mark?) {
        guard let mark else { return nil }
        self.init(mark)
    }
}

extension Node {
    /// The tag by the rules of YAML; quoted scalars are strings.
    var tagName: Tag.Name { Tag.Name(rawValue: tag.description) }

    /// Whether nothing, or `~` or `null`, is written there.
    var isNull: Bool { tagName == .null }

    /// What a message calls this node.
    var kind: String {
        switch self {
        case .mapping: "a map"
        case .sequence: "a list"
        case .alias: "an alias"
        case .scalar(let scalar):
            switch tagName {
            case .null: "nothing"
            case .int, .float: "the number \(scalar.string)"
            case .bool: "the boolean \(scalar.string)"
            default: "the string '\(scalar.string)'"
            }
        }
    }
}
