/// An item of a family of operations.
struct Item: Equatable, Sendable {
    /// The names of the placeholders that an item replaces.
    static let placeholders = ["item", "item.name", "item.stem"]

    /// The item as the file lists it or as a glob matches it.
    let path: String

    /// The last component of the path.
    var name: String { path.split(separator: "/").last.map(String.init) ?? path }

    /// The name without its last extension. A leading dot does not begin an extension.
    var stem: String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }

    /// Returns the environment variable that holds the value of a placeholder. `nil` if the placeholder is unknown.
    static func variable(of placeholder: String) -> String? {
        switch placeholder {
        case "item": "OPQ_ITEM"
        case "item.name": "OPQ_ITEM_NAME"
        case "item.stem": "OPQ_ITEM_STEM"
        default: nil
        }
    }

    /// The environment variables that hold the item, with their values.
    var variables: [String: String] {
        ["OPQ_ITEM": path, "OPQ_ITEM_NAME": name, "OPQ_ITEM_STEM": stem]
    }

    /// Returns the value of a placeholder. `nil` if the placeholder is unknown.
    func value(of placeholder: String) -> String? {
        switch placeholder {
        case "item": path
        case "item.name": name
        case "item.stem": stem
        default: nil
        }
    }
}

/// A string with placeholders such as `{item}` and `{item.stem}`.
///
/// All other braces are text. `${item}` is text too, because it belongs to the shell.
struct Template {
    /// A piece of the string: text, or the name of a placeholder.
    enum Piece {
        case text(String)
        case placeholder(String)
    }

    /// The pieces of the string, from left to right.
    private(set) var pieces: [Piece] = []

    /// Creates a template from the text and the placeholders in `source`.
    init(_ source: String) {
        var text = ""
        var rest = source[...]
        while let next = rest.first {
            if next == "{", text.last != "$", let name = Self.placeholder(opening: rest) {
                pieces += [.text(text), .placeholder(name)]
                text = ""
                rest = rest.dropFirst(name.count + 2)
            } else {
                text.append(next)
                rest = rest.dropFirst()
            }
        }
        pieces.append(.text(text))
    }

    /// The names of the placeholders in the string. The names may be unknown, such as `item.size`.
    var placeholders: [String] {
        pieces.compactMap { if case .placeholder(let name) = $0 { name } else { nil } }
    }

    /// Returns the string in which the values of `item` replace the placeholders.
    func text(for item: Item?) -> String {
        pieces.reduce(into: "") { result, piece in
            switch piece {
            case .text(let text): result += text
            case .placeholder(let name): result += item?.value(of: name) ?? "{\(name)}"
            }
        }
    }

    /// Returns the misspelled placeholders in `source`, each with the placeholder that it resembles.
    static func misspeltPlaceholders(in source: String) -> [(name: String, meant: String)] {
        var misspelt: [(name: String, meant: String)] = []
        var suggester = Suggester()
        let placeholders = Suggester.Candidates(Item.placeholders)
        var previous: Character?
        for (part, index) in zip(source.split(separator: "{", omittingEmptySubsequences: false), 0...) {
            defer { previous = part.last ?? "{" }
            guard index > 0, previous != "$", let end = part.firstIndex(of: "}") else { continue }
            let name = String(part[..<end])
            guard (3...12).contains(name.utf8.count), !name.hasPrefix("item."), name != "item",
                name.utf8.allSatisfy({ $0 == UInt8(ascii: ".") || (UInt8(ascii: "A")...UInt8(ascii: "z")).contains($0) }
                ),
                let meant = suggester.nearest(to: name, among: placeholders)
            else { continue }
            misspelt.append((name, meant))
        }
        return misspelt
    }

    /// Returns the name of the placeholder at the start of `text`. `nil` if `text` does not start with a placeholder.
    private static func placeholder(opening text: Substring) -> String? {
        // The start is compared first: a search for the end of each brace would take quadratic time.
        guard text.hasPrefix("{item") else { return nil }
        let name = text.dropFirst().prefix { $0.isLetter || "._-".contains($0) }
        guard text[name.endIndex...].first == "}" else { return nil }
        return name == "item" || name.hasPrefix("item.") ? String(name) : nil
    }
}
