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

    /// Returns the entries of a mapping, and reports keys that are not in the table.
    ///
    /// - Parameters:
    ///   - owner: The owner of the keys in messages. `nil` for the operation `name`.
    mutating func entries(
        of node: YAMLNode, as owner: String?, at position: SourcePosition, in table: KeyTable, name: String = ""
    ) -> [Entry] {
        guard node.mapping != nil else {
            report(
                "\(owner ?? "operation '\(name)'") must be a map, found \(node.kind)",
                at: node.isNull ? position : node.position,
                remedy: "its keys are \(table.names.joined(separator: ", "))")
            return []
        }
        return entries(of: node).filter { entry in
            let key = entry.key.value
            if table.names.contains(key) {
                guard Self.pending.contains(key) else { return true }
                report(
                    "'\(key)' in \(owner ?? "operation '\(name)'") has no effect yet", at: entry.key.position,
                    remedy: "leave it out")
                return false
            }
            report(
                "unknown key '\(key)' in \(owner ?? "operation '\(name)'")", at: entry.key.position,
                remedy: table.remedy(for: key))
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

    /// Returns the entries of a map: its own, and then those of merged maps that are not among its own. Keys that begin with
    /// `x-` are left out.
    private mutating func entries(of node: YAMLNode) -> [Entry] {
        var entries: [Entry] = []
        var merged: [YAMLNode] = []
        let pairs = node.mapping ?? []
        entries.reserveCapacity(pairs.count)
        var names = NameList(count: pairs.count)
        for pair in pairs {
            let position = pair.key.position
            if pair.key.isMergeKey {
                merged += pair.value.sequence ?? [pair.value]
                continue
            }
            guard let name = pair.key.string, !name.isEmpty else {
                report(
                    pair.key.string == nil ? "a key must be a name, found \(pair.key.kind)" : "a name is empty",
                    at: position)
                continue
            }
            if let first = names.insert(name, at: position, among: entries) {
                report(
                    "duplicate key '\(name)'", at: position,
                    remedy: "line \(first.line) contains it already: keep one of them")
            }
            entries.append(Entry(key: Located(name, at: position), value: pair.value))
        }
        for node in merged { merge(node, into: &entries) }
        entries.removeAll { $0.key.value.hasPrefix("x-") }
        return entries
    }

    private mutating func merge(_ node: YAMLNode, into entries: inout [Entry]) {
        guard node.mapping != nil else {
            report("'<<' must be a map or a list of maps, found \(node.kind)", at: node.position)
            return
        }
        guard mergesLeft > 0 else { return }
        var known = Set(entries.map(\.key.value))
        for entry in self.entries(of: node) where known.insert(entry.key.value).inserted {
            mergesLeft -= 1
            entries.append(entry)
        }
        mergesLeft -= 1
        if mergesLeft <= 0 { report("maps are merged too often", at: node.position, remedy: "write the keys out") }
    }

    /// Returns the string in `entry`.
    ///
    /// Words that YAML reads as booleans are accepted as text, because `true` is also a shell command.
    mutating func string(in entry: Entry, orNumber: Bool = false) -> Located<String>? {
        guard let text = string(of: entry.value, orNumber: orNumber) else {
            mismatch(in: entry, expected: orNumber ? "a string, a number or a boolean" : "a string")
            return nil
        }
        refuseNUL(in: text, of: entry)
        return Located(text, at: entry.position)
    }

    /// Returns the strings in `entry`, which may be a single string or a list.
    mutating func strings(in entry: Entry, orNumbers: Bool = false) -> [Located<String>] {
        guard let list = entry.value.sequence else {
            guard let text = string(of: entry.value, orNumber: orNumbers) else {
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
        report(
            "'\(entry.key.value)' must be \(expected), found \(entry.value.kind)", at: entry.position,
            remedy: entry.value.isBarePlaceholder || (entry.value.isNumber && expected.contains("string"))
                ? "put it in quotes" : nil)
    }

    /// Reports a NUL character, because the system reads commands, paths and variables only up to the first NUL.
    private mutating func refuseNUL(in text: String, of entry: Entry) {
        guard text.utf8.contains(0) else { return }
        report(
            "'\(entry.key.value)' holds a NUL character, where the rest would be cut off", at: entry.position,
            remedy: "write \\\\0 for a backslash and a zero within quotation marks")
    }

    /// Returns the text of a scalar. `nil` for other nodes, and for a number unless numbers are wanted.
    func string(of node: YAMLNode, orNumber: Bool) -> String? {
        guard case .scalar(let string, let kind) = node.content, kind != .null else { return nil }
        return orNumber || !node.isNumber ? string : nil
    }
}

extension YAMLNode {
    /// Whether YAML has read a placeholder without quotes, as in `queue: {item}`, as a map.
    var isBarePlaceholder: Bool {
        guard let pairs = mapping, pairs.count == 1, pairs[0].value.isNull else { return false }
        return pairs[0].key.string?.hasPrefix("item") == true
    }
}

/// The names in a map. A short list is searched faster than a set is filled.
private struct NameList {
    private var places: [String: SourcePosition] = [:]
    private let count: Int

    /// Creates a list for a map with a number of keys.
    init(count: Int) { self.count = count }

    /// Adds a name to the names of `entries`. Returns the first place of a name that is among them.
    mutating func insert(_ name: String, at position: SourcePosition, among entries: [WorkflowParser.Entry])
        -> SourcePosition?
    {
        if count <= 8 { return entries.first { $0.key.value == name }?.key.position }
        if places.isEmpty { places.reserveCapacity(count) }
        guard let first = places.updateValue(position, forKey: name) else { return nil }
        places[name] = first
        return first
    }
}
