/// One item of a family.
struct Item: Sendable {
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
    private enum Piece {
        case text(String)
        case placeholder(String)
    }

    private var pieces: [Piece] = []

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

    /// The shell command with the values of `item` in place, each quoted as its surroundings need it.
    func command(for item: Item?) -> String {
        var quoting = ShellQuoting()
        return pieces.reduce(into: "") { result, piece in
            switch piece {
            case .text(let text):
                quoting.pass(text)
                result += text
            case .placeholder(let name):
                result += item?.value(of: name).map { quoting.quoted($0) } ?? "{\(name)}"
            }
        }
    }

    /// The name of the placeholder that `text` opens with, if it does.
    private static func placeholder(opening text: Substring) -> String? {
        guard let end = text.firstIndex(of: "}") else { return nil }
        let name = text[text.index(after: text.startIndex)..<end]
        let isName = name.allSatisfy { $0.isLetter || "._-".contains($0) }
        return name == "item" || name.hasPrefix("item.") && isName ? String(name) : nil
    }
}
