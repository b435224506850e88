/// A list of events in order, which any thread may extend.
package final class Journal<Entry: Sendable>: Sendable {
    private let storage = Guarded<[Entry]>([])

    package init() {}

    package func append(_ entry: Entry) { storage.withLock { $0.append(entry) } }

    package var entries: [Entry] { storage.withLock { $0 } }
}
