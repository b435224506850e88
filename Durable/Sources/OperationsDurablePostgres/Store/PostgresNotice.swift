#if Postgres
import DurableCore

/// The text of one notification: the effects of a commit, for other processes.
struct PostgresNotice: Equatable {
    /// The schema of the store, as the key of its lock.
    var schema: Int64
    /// The store that committed. The store ignores its own notices.
    var sender: UInt64
    var effects: Effects

    /// PostgreSQL permits at most 8,000 bytes.
    private static let maximalBytes = 7_900

    init(schema: Int64, sender: UInt64, effects: Effects) {
        (self.schema, self.sender, self.effects) = (schema, sender, effects)
    }

    /// The text. A text with too many identifiers is cut, and its flags contain `x`.
    var text: String {
        var flags = "-"
        if effects.hasReadyOperations { flags += "r" }
        if effects.hasCancelRequests { flags += "c" }
        if effects.hasNewWakes { flags += "w" }
        let head = "\(schema) \(sender) \(flags)"
        let ids = effects.ended.sorted().map(\.description).joined(separator: ",")
        return head.utf8.count + ids.utf8.count < Self.maximalBytes ? "\(head) \(ids)" : "\(head)x "
    }

    /// Whether the text lacks the identifiers, so that all waiting tasks check their operations.
    private(set) var isIncomplete = false

    /// Returns nil for a text that is no notice.
    init?(text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 4, let schema = Int64(parts[0]), let sender = UInt64(parts[1]) else { return nil }
        var effects = Effects()
        effects.hasReadyOperations = parts[2].contains("r")
        effects.hasCancelRequests = parts[2].contains("c")
        effects.hasNewWakes = parts[2].contains("w")
        effects.ended = Set(parts[3].split(separator: ",").compactMap { Int64($0).map { OperationID($0) } })
        (self.schema, self.sender, self.effects) = (schema, sender, effects)
        isIncomplete = parts[2].contains("x")
    }
}
#endif
