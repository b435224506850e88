extension WorkflowParser {
    /// A key of a mapping with its value.
    struct Entry {
        /// The key, which is not empty.
        let key: Located<String>
        /// The value, which may be left out.
        let value: YAMLNode

        /// Where the value stands or, if it is left out, its key.
        var position: SourcePosition { value.isNull ? key.position : value.position }
    }

    /// The entries of a mapping whose keys must be among `keys`.
    mutating func entries(
        of node: YAMLNode, as owner: String, at position: SourcePosition, keys: [String]
    ) -> [Entry] {
        guard node.mapping != nil else {
            report(
                "\(owner) must be a map, found \(node.kind)",
                at: node.isNull ? position : node.position,
                mend: "its keys are \(keys.joined(separator: ", "))")
            return []
        }
        return entries(of: node).filter { entry in
            if keys.contains(entry.key.value) { return true }
            if entry.key.value == "<<" {
                report(
                    "merging maps by '<<' is not supported", at: entry.key.position,
                    mend: "write the keys out, or use an alias for each value")
                return false
            }
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

    private mutating func entries(of node: YAMLNode) -> [Entry] {
        var firstPlaces: [String: SourcePosition] = [:]
        return (node.mapping ?? []).compactMap { key, value in
            let position = key.position
            guard let name = key.string, !name.isEmpty else {
                report("a key must be a name, found \(key.kind)", at: position)
                return nil
            }
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
        refuseNUL(in: text, of: entry)
        return text.map { Located($0, at: entry.position) }
    }

    /// The strings that `entry` holds: one, or a list of them.
    mutating func strings(in entry: Entry, orNumbers: Bool = false) -> [Located<String>] {
        guard let list = entry.value.sequence else {
            guard let text = text(of: entry.value, orNumber: orNumbers) else {
                mismatch(in: entry, expected: "a string or a list of strings")
                return []
            }
            refuseNUL(in: text, of: entry)
            return [Located(text, at: entry.position)]
        }
        return list.compactMap { node in
            let key = Located(entry.key.value, at: node.isNull ? entry.position : node.position)
            return string(in: Entry(key: key, value: node), orNumber: orNumbers)
        }
    }

    /// The truth value that `entry` holds.
    mutating func bool(in entry: Entry) -> Bool? {
        if let bool = entry.value.bool { return bool }
        mismatch(in: entry, expected: "true or false")
        return nil
    }

    /// Reports that `entry` holds something else than expected.
    mutating func mismatch(in entry: Entry, expected: String) {
        // `queue: {item}` is a map with the key `item` to YAML.
        let isBarePlaceholder = entry.value.mapping?.first?.key.string?.hasPrefix("item") == true
        report(
            "'\(entry.key.value)' must be \(expected), found \(entry.value.kind)", at: entry.position,
            mend: isBarePlaceholder || (entry.value.isNumber && expected.contains("string")) ? "put it in quotes" : nil)
    }

    /// The system takes commands, paths and variables up to the first NUL.
    private mutating func refuseNUL(in text: String?, of entry: Entry) {
        guard let text, text.utf8.contains(0) else { return }
        report(
            "'\(entry.key.value)' holds a NUL character, where the rest would be cut off", at: entry.position,
            mend: "write \\\\0 for a backslash and a zero within quotation marks")
    }

    private func text(of node: YAMLNode, orNumber: Bool) -> String? {
        guard let string = node.string, !node.isNull else { return nil }
        return orNumber || !node.isNumber ? string : nil
    }
}
