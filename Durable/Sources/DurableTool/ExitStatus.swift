import DurableCore

/// The exit statuses of the command.
public enum ExitStatus: Int32, Sendable {
    /// Operations were found, or the change is done.
    case done = 0
    /// Nothing was found, or the change was refused.
    case refused = 1
    /// The arguments are wrong.
    case wrongUse = 2
    /// The store cannot be read or written, or is no store of this version.
    case noStore = 3
    /// The output cannot be written.
    case noOutput = 4
}

/// An error of a command, with its cause and its remedy.
public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
    public let status: ExitStatus
    public let cause: String
    public let remedy: String?

    /// Creates an error.
    public init(_ status: ExitStatus, _ cause: String, remedy: String? = nil) {
        (self.status, self.cause, self.remedy) = (status, cause, remedy)
    }

    /// Creates the error of a request.
    public init(_ error: any Error, store: StoreAddress?) {
        switch error {
        case let failure as Failure: self = failure
        case let mistake as Selection.Mistake: self.init(.wrongUse, mistake.description)
        case let error as DurableError: self.init(store: error, store)
        default: self.init(.noStore, "\(error)")
        }
    }

    private init(store error: DurableError, _ store: StoreAddress?) {
        let place = store.map { "\($0)" } ?? "the store"
        switch error {
        case .unavailable(let text): self.init(.noStore, "\(error)", remedy: Self.remedy(text, store))
        case .noSchema:
            self.init(
                .noStore, "\(place) is no store of durable operations",
                remedy: "check the address; this command creates no store")
        case .newerSchema:
            self.init(.noStore, "\(place): \(error)", remedy: "use the durable that was built with the workers")
        case .olderSchema:
            self.init(
                .noStore, "\(place): \(error)",
                remedy: "start a worker of this version, or use the durable that was built with the workers")
        default: self.init(.refused, "\(error)")
        }
    }

    /// The remedies of texts of unavailable databases, the first of which applies.
    private static let remedies: [(fragment: String, text: String)] = [
        ("No such file", "check the path; this command creates no store"),
        ("is not a database", "check the path, or restore a backup"),
        ("malformed", "stop the workers, and restore a backup"),
        ("Permission denied", "run the command as the owner of the file"),
        ("read-only", "run the command as the owner of the file, in a folder that permits writing"),
        ("readonly", "run the command as the owner of the file, in a folder that permits writing"),
        ("held the lock", "try again, or wait longer with --wait"),
        ("locked", "try again, or wait longer with --wait"),
        ("is full", "make space on the file system"),
        ("No space left", "make space on the file system"),
        ("requires a password", "put the password into the file of PGPASSFILE, or use PGSERVICE"),
        ("refused the password", "correct the password in the file of PGPASSFILE"),
        ("no server accepts", "check the host and the port, and that the server runs"),
    ]

    private static func remedy(_ text: String, _ store: StoreAddress?) -> String? {
        if let known = remedies.first(where: { text.contains($0.fragment) }) { return known.text }
        if case .postgres = store { return "check the address and the server" }
        return nil
    }

    /// The cause and the remedy in one line that is safe on a terminal.
    public var description: String { CellText("durable: \(cause)\(remedy.map { "; \($0)" } ?? "")", limit: 2_000).text }
}
