/// One item of a family.
struct Item: Equatable, Sendable {
    /// The placeholders an item fills.
    static let placeholders = ["item", "item.name", "item.stem"]

    /// The item as it is listed or matched.
    let path: String

    /// The last component of the path.
    var name: String { path.split(separator: "/").last.map(String.init) ?? path }

    /// The name without its last extension; a leading dot starts no extension.
    var stem: String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }

    /// The environment variable that holds what a placeholder stands for; `nil` if there is no such placeholder.
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

    /// What a placeholder stands for; `nil` if there is no such placeholder.
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
/// All other braces are text, and so is `${item}`, which is the shell's.
struct Template {
    /// Text, or the name between braces.
    enum Piece {
        case text(String)
        case placeholder(String)
    }

    /// The string from left to right.
    private(set) var pieces: [Piece] = []

    /// Finds the placeholders in `source`.
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

    /// The names between the braces, whether or not there are such placeholders.
    var placeholders: [String] {
        pieces.compactMap { if case .placeholder(let name) = $0 { name } else { nil } }
    }

    /// The string with the values of `item` in place.
    func text(for item: Item?) -> String {
        pieces.reduce(into: "") { result, piece in
            switch piece {
            case .text(let text): result += text
            case .placeholder(let name): result += item?.value(of: name) ?? "{\(name)}"
            }
        }
    }

    /// What stands between braces and is almost a placeholder, with the placeholder it is almost.
    static func misspeltPlaceholders(in source: String) -> [(name: String, meant: String)] {
        var misspelt: [(name: String, meant: String)] = []
        var previous: Character?
        for (part, index) in zip(source.split(separator: "{", omittingEmptySubsequences: false), 0...) {
            defer { previous = part.last ?? "{" }
            guard index > 0, previous != "$", let end = part.firstIndex(of: "}") else { continue }
            let name = String(part[..<end])
            guard (3...12).contains(name.utf8.count), !name.hasPrefix("item."), name != "item",
                name.utf8.allSatisfy({ $0 == UInt8(ascii: ".") || (UInt8(ascii: "A")...UInt8(ascii: "z")).contains($0) }
                ),
                let meant = nearestName(to: name, among: Item.placeholders)
            else { continue }
            misspelt.append((name, meant))
        }
        return misspelt
    }

    /// The name of the placeholder that `text` opens with, if it does.
    private static func placeholder(opening text: Substring) -> String? {
        guard let end = text.firstIndex(of: "}") else { return nil }
        let name = text[text.index(after: text.startIndex)..<end]
        let isName = name.allSatisfy { $0.isLetter || "._-".contains($0) }
        return name == "item" || name.hasPrefix("item.") && isName ? String(name) : nil
    }
}
