import Synchronization

/// What happened, in order, from any thread.
final class Log<Entry: Sendable>: Sendable {
    private let storage = Mutex<[Entry]>([])

    func append(_ entry: Entry) { storage.withLock { $0.append(entry) } }

    var entries: [Entry] { storage.withLock { $0 } }
}
