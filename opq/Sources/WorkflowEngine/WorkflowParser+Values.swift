extension WorkflowParser {
    /// A key and its value in a mapping.
    struct Entry {
        /// The key. The key is not empty.
        let key: Located<String>
        /// The value. The value is null if the file omits it.
        let value: YAMLNode

        /// The place of the value. If the file omits the value, the place of the key.
        var position: SourcePosition { value.isNull ? key.position : value.position }
    }

    /// Returns the entries of a mapping, and reports keys that are not among `keys`.
    mutating func entries(
        of node: YAMLNode, as owner: String, at position: SourcePosition, keys: [String]
    ) -> [Entry] {
        guard node.mapping != nil else {
            report(
                "\(owner) must be a map, found \(node.kind)",
                at: node.isNull ? position : node.position,
                remedy: "its keys are \(keys.joined(separator: ", "))")
            return []
        }
        return entries(of: node).filter { entry in
            if keys.contains(entry.key.value) { return true }
            if entry.key.value == "<<" {
                report(
                    "merging maps by '<<' is not supported", at: entry.key.position,
                    remedy: "write the keys out, or use an alias for each value")
                return false
            }
            report(
                "unknown key '\(entry.key.value)' in \(owner)", at: entry.key.position,
                remedy: suggestion(for: entry.key.value, among: keys))
            return false
        }
    }

    /// Returns the entries of the mapping in `entry`, whose keys may be any names.
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
                    remedy: "line \(first.line) contains it already: keep one of them")
            }
            return Entry(key: Located(name, at: position), value: value)
        }
    }

    /// Returns the string in `entry`.
    ///
    /// Words that YAML reads as booleans are accepted as text, because `true` is also a shell command.
    mutating func string(in entry: Entry, orNumber: Bool = false) -> Located<String>? {
        let text = text(of: entry.value, orNumber: orNumber)
        if text == nil { mismatch(in: entry, expected: orNumber ? "a string, a number or a boolean" : "a string") }
        refuseNUL(in: text, of: entry)
        return text.map { Located($0, at: entry.position) }
    }

    /// Returns the strings in `entry`, which may be a single string or a list.
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

    /// Returns the Boolean value in `entry`.
    mutating func bool(in entry: Entry) -> Bool? {
        if let bool = entry.value.bool { return bool }
        mismatch(in: entry, expected: "true or false")
        return nil
    }

    /// Reports that the value of `entry` does not have the expected type.
    mutating func mismatch(in entry: Entry, expected: String) {
        // YAML reads `queue: {item}` as a map with the key `item`.
        let isBarePlaceholder = entry.value.mapping?.first?.key.string?.hasPrefix("item") == true
        report(
            "'\(entry.key.value)' must be \(expected), found \(entry.value.kind)", at: entry.position,
            remedy: isBarePlaceholder || (entry.value.isNumber && expected.contains("string"))
                ? "put it in quotes" : nil)
    }

    /// Reports a NUL character, because the system reads commands, paths and variables only up to the first NUL.
    private mutating func refuseNUL(in text: String?, of entry: Entry) {
        guard let text, text.utf8.contains(0) else { return }
        report(
            "'\(entry.key.value)' holds a NUL character, where the rest would be cut off", at: entry.position,
            remedy: "write \\\\0 for a backslash and a zero within quotation marks")
    }

    private func text(of node: YAMLNode, orNumber: Bool) -> String? {
        guard let string = node.string, !node.isNull else { return nil }
        return orNumber || !node.isNumber ? string : nil
    }
}
