/// An item of a family of operations: a path or another string, or a combination of a matrix.
struct Item: Hashable, Sendable {
    /// The value of an axis in a combination.
    struct Part: Hashable, Sendable {
        let axis: String
        let value: String
    }

    /// The names of the placeholders that an item of `each` replaces.
    static let placeholders = ["item", "item.name", "item.stem", "item.dir", "item.ext"]

    /// The item as the file lists it or as a glob matches it. For a combination, the values with commas between them.
    let path: String
    /// The values of a combination. Empty for other items.
    let parts: [Part]

    /// Creates an item of `each`.
    init(path: String) {
        self.path = path
        parts = []
    }

    /// Creates an item of a matrix.
    init(parts: [Part]) {
        path = parts.map(\.value).joined(separator: ",")
        self.parts = parts
    }

    /// The last component of the path.
    var name: String { path.split(separator: "/").last.map(String.init) ?? path }

    /// The name without its last extension. A leading dot does not begin an extension.
    var stem: String { dot.map { String(name[..<$0]) } ?? name }

    /// The last extension of the name, without its dot. Empty for a name without an extension.
    var fileExtension: String { dot.map { String(name[name.utf8.index(after: $0)...]) } ?? "" }

    /// The path without its last component. A dot for a path with one component.
    var directory: String {
        let end = path.utf8.lastIndex { $0 != UInt8(ascii: "/") }.map { path.utf8.index(after: $0) } ?? path.startIndex
        guard let slash = path[..<end].utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        let directory = path[..<slash]
        return directory.utf8.allSatisfy { $0 == UInt8(ascii: "/") } ? "/" : String(directory)
    }

    private var dot: String.Index? {
        let name = name
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else { return nil }
        return dot
    }

    /// Returns the environment variable that holds the value of a placeholder.
    static func variable(of placeholder: String) -> String {
        "OPQ_" + placeholder.uppercased().replacing(".", with: "_")
    }

    /// The environment variables that hold the item, with their values.
    var variables: [String: String] {
        guard parts.isEmpty else {
            let values = parts.map { (Self.variable(of: $0.axis), $0.value) } + [("OPQ_ITEM", path)]
            return Dictionary(values) { first, _ in first }
        }
        return [
            "OPQ_ITEM": path, "OPQ_ITEM_NAME": name, "OPQ_ITEM_STEM": stem, "OPQ_ITEM_DIR": directory,
            "OPQ_ITEM_EXT": fileExtension,
        ]
    }

    /// Returns the value of a placeholder. `nil` if the item has no such placeholder.
    func value(of placeholder: String) -> String? {
        if placeholder == "item" { return path }
        guard parts.isEmpty else { return parts.first { $0.axis == placeholder }?.value }
        return switch placeholder {
        case "item.name": name
        case "item.stem": stem
        case "item.dir": directory
        case "item.ext": fileExtension
        default: nil
        }
    }
}
