/// A string with placeholders in braces.
///
/// Other braces are text, for example those of `{print $1}`, and of `${item}`, which belongs to the shell.
struct Template {
    /// A part of the string.
    enum Piece: Equatable {
        case text(String)
        /// A placeholder, by the name between the braces. The name may be unknown, such as `item.size`.
        case placeholder(String)
    }

    private(set) var pieces: [Piece] = []

    /// Creates a template. `{item}` and names that begin with `item.` are always placeholders.
    ///
    /// - Parameter names: The names of the other placeholders.
    init(_ source: String, names: Set<String> = []) {
        guard source.hasBrace else {
            pieces = [.text(source)]
            return
        }
        let bytes = source.utf8
        var start = bytes.startIndex
        var index = start
        var previous: UInt8 = 0
        while index < bytes.endIndex {
            let byte = bytes[index]
            let after = bytes.index(after: index)
            if byte == UInt8(ascii: "{"), previous != UInt8(ascii: "$"),
                let end = Self.endOfName(in: bytes, from: after)
            {
                let name = String(source[after..<end])
                if name == "item" || name.hasPrefix("item.") || names.contains(name) {
                    pieces += [.text(String(source[start..<index])), .placeholder(name)]
                    index = bytes.index(after: end)
                    start = index
                    previous = UInt8(ascii: "}")
                    continue
                }
            }
            previous = byte
            index = after
        }
        pieces.append(.text(String(source[start...])))
    }

    /// The names of the placeholders in the string.
    var placeholders: [String] {
        pieces.compactMap { if case .placeholder(let name) = $0 { name } else { nil } }
    }

    /// Returns the string in which values replace the placeholders. A placeholder without a value stays as it is.
    func text(_ value: (String) -> String?) -> String {
        if pieces.count == 1, case .text(let text) = pieces[0] { return text }
        return pieces.reduce(into: "") { result, piece in
            switch piece {
            case .text(let text): result += text
            case .placeholder(let name): result += value(name) ?? "{\(name)}"
            }
        }
    }

    /// Returns the misspelled placeholders in `source`, each with the placeholder that it resembles.
    ///
    /// - Parameter names: The names of the known placeholders.
    static func misspeltPlaceholders(in source: String, names: [String]) -> [(name: String, meant: String)] {
        guard source.hasBrace else { return [] }
        var misspelt: [(name: String, meant: String)] = []
        var suggester = Suggester()
        let placeholders = Suggester.Candidates(names)
        var previous: Character?
        for (part, index) in zip(source.split(separator: "{", omittingEmptySubsequences: false), 0...) {
            defer { previous = part.last ?? "{" }
            guard index > 0, previous != "$", let end = part.firstIndex(of: "}") else { continue }
            let name = String(part[..<end])
            guard (3...12).contains(name.utf8.count), !name.hasPrefix("item."), !names.contains(name),
                name.utf8.allSatisfy({ $0 == UInt8(ascii: ".") || (UInt8(ascii: "A")...UInt8(ascii: "z")).contains($0) }
                ),
                let meant = suggester.nearest(to: name, among: placeholders)
            else { continue }
            misspelt.append((name, meant))
        }
        return misspelt
    }

    /// Returns the end of the name that begins at `start`, if a closing brace follows it.
    private static func endOfName(in bytes: String.UTF8View, from start: String.Index) -> String.Index? {
        var index = start
        while index < bytes.endIndex {
            let byte = bytes[index]
            if byte == UInt8(ascii: "}") { return index > start ? index : nil }
            guard byte.isInName || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") else { return nil }
            index = bytes.index(after: index)
        }
        return nil
    }
}

extension String {
    /// Whether the string contains an open brace, without which it has no placeholder.
    var hasBrace: Bool { utf8.contains(UInt8(ascii: "{")) }
}
