/// The place of a store: the path of a file, or an address of PostgreSQL, which may contain a password.
public enum StoreAddress: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    case file(String)
    case postgres(String)

    private static let schemes = ["postgresql://", "postgres://"]

    /// - Throws: `Selection.Mistake`, which contains no part of the text.
    public init(_ text: String) throws(Selection.Mistake) {
        if Self.schemes.contains(where: text.lowercased().hasPrefix) {
            self = .postgres(text)
        } else if text.isEmpty {
            throw Selection.Mistake(description: "the store is empty")
        } else if text.contains("://") || text.contains("password=") {
            throw Selection.Mistake(
                description: "the store is neither the path of a file nor an address that begins with postgresql://")
        } else {
            self = .file(text)
        }
    }

    /// The path of the file. An address of PostgreSQL is described by its kind alone.
    public var description: String {
        switch self {
        case .file(let path): path
        case .postgres: "the database of PostgreSQL"
        }
    }

    public var customMirror: Mirror { Mirror(self, children: [:]) }

    /// Whether the address contains a password, which each user of the machine may see in the list of processes.
    public var hasPassword: Bool {
        guard case .postgres(let text) = self else { return false }
        let rest = text.drop { $0 != ":" }.dropFirst(3)
        if rest.contains("password=") { return true }
        guard let end = rest.lastIndex(of: "@") else { return false }
        return rest[..<end].contains(":")
    }

    /// Returns a message without the addresses in the arguments, which the parser of arguments may repeat.
    public static func masked(_ message: String, arguments: [String]) -> String {
        var message = message
        for argument in arguments.sorted(by: { $0.utf8.count > $1.utf8.count }) {
            // The value of an option may follow its name in one argument.
            let values = [argument] + argument.split(separator: "=", maxSplits: 1).dropFirst().map(String.init)
            for value in values where value.contains("://") || value.contains("password=") {
                message = message.replacing(value, with: "…")
            }
        }
        return message
    }
}
