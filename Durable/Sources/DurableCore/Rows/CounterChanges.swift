/// The changes of counters in one transaction, with the counters that the transaction has loaded.
///
/// The value answers the questions about counters of `DurableRows`. The caller loads stored counters and writes the changes.
package struct CounterChanges {
    /// The sums of the changes of each counter, which the database does not have yet.
    package private(set) var changes: [Counter: Int64] = [:]
    /// The counters of epochs that the transaction has loaded, with its changes.
    private var counters: [EpochName: [Counter: Int64]] = [:]
    /// The numbers of running operations that the transaction has loaded, with its changes.
    private var running: [QueueID: Int64] = [:]

    package init() {}

    package mutating func count(_ counter: Counter, by change: Int64) {
        changes[counter, default: 0] += change
        if counter.state == .running, let known = running[counter.queue] { running[counter.queue] = known + change }
        guard let known = counters[counter.epochName] else { return }
        let sum = (known[counter] ?? 0) + change
        counters[counter.epochName]?[counter] = sum == 0 ? nil : sum
    }

    /// Whether the transaction cannot exclude that the counter is zero.
    package func mayBeZero(_ counter: Counter) -> Bool {
        guard let known = counters[counter.epochName] else { return true }
        return known[counter] == nil
    }

    /// Returns the counters of a queue that are not zero.
    package func counters(of queue: QueueID, stored: [Counter: Int64]) -> [Counter: Int64] {
        withChanges(stored) { $0.queue == queue }
    }

    /// Returns the counters of an epoch that are not zero.
    package mutating func counters(
        of name: EpochName, load: (EpochName) throws -> [Counter: Int64]
    ) rethrows -> [Counter: Int64] {
        if let known = counters[name] { return known }
        let found = withChanges(try load(name)) { $0.epochName == name }
        counters[name] = found
        return found
    }

    private func withChanges(
        _ stored: [Counter: Int64], _ isIncluded: (Counter) -> Bool
    ) -> [Counter: Int64] {
        var found = stored
        for (counter, change) in changes where isIncluded(counter) { found[counter, default: 0] += change }
        return found.filter { $0.value != 0 }
    }

    /// Returns the number of running operations of a queue.
    package mutating func runningCount(of queue: QueueID, load: () throws -> Int64) rethrows -> Int64 {
        if let known = running[queue] { return known }
        let changed = changes.lazy.filter { $0.key.queue == queue && $0.key.state == .running }.map(\.value)
        let count = try load() + changed.reduce(0, +)
        running[queue] = count
        return count
    }

    /// Returns the first epoch of a queue with an unfinished operation, from the given epoch on.
    ///
    /// - Parameters:
    ///   - load: Loads the stored counters of an epoch.
    ///   - nextStored: Returns the first epoch with a stored counter, from an epoch on.
    package mutating func firstEpoch(
        of queue: QueueID, from epoch: Int64, load: (EpochName) throws -> [Counter: Int64],
        nextStored: (Int64) throws -> Int64?
    ) rethrows -> Int64? {
        // The counters of an epoch that the transaction has changed may be zero, or missing in the database.
        var next: Int64? = epoch
        while let epoch = next {
            if try !counters(of: EpochName(queue: queue, epoch: epoch), load: load).isEmpty { return epoch }
            let changed = changes.keys.lazy.filter { $0.queue == queue && $0.epoch > epoch }.map(\.epoch).min()
            next = try [nextStored(epoch + 1), changed].compactMap { $0 }.min()
        }
        return nil
    }
}
