import ArgumentParser
import DurableCore
import DurableTool
import OperationsDurable

struct Queues: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List queues, with their counts and the time for which the oldest ready operation waits.")

    @OptionGroup var store: StoreOptions
    @OptionGroup var watch: WatchOptions

    func run() async throws {
        try await watch.view(store, "durable queues") { store, output in
            let snapshot = try await store.snapshot()
            let (queues, now) = (snapshot.sortedQueues, snapshot.instant)
            return try output.list(
                "queues", of: "queue", QueueView.columns, queues.map { QueueView.row($0, now: now) },
                json: self.store.json ? queues.map { QueueView.json($0, now: now) } : nil)
        }
    }
}

extension DurableSnapshot {
    fileprivate var sortedQueues: [Queue] { queues.sorted { ExactName($0.name) < ExactName($1.name) } }

    /// Returns the queues of the names.
    ///
    /// - Throws: `Failure` for an unknown name. A change would create the queue.
    fileprivate func queues(named names: [String]) throws -> [Queue] {
        try names.map { name in
            guard let queue = queues.first(where: { ExactName($0.name) == ExactName(name) }) else {
                throw Failure(.refused, "the store has no queue '\(name)'", remedy: "'durable queues' lists the queues")
            }
            return queue
        }
    }
}

/// A command that suspends or resumes queues.
private protocol SuspensionCommand: AsyncParsableCommand {
    static var isSuspension: Bool { get }
    var store: StoreOptions { get }
    var queues: [String] { get }
}

extension SuspensionCommand {
    fileprivate func change() async throws {
        try await store.withStore { store, output in
            let found = try await store.snapshot().queues(named: queues)
            for queue in found.map({ DurableQueue($0.name, in: store) }) {
                try await Self.isSuspension ? queue.suspend() : queue.resume()
                if !self.store.json {
                    try output.line("\(Self.isSuspension ? "suspended" : "resumed") \(CellText(queue.name).text)")
                }
            }
            if self.store.json {
                let names = JSONText.list(found.map { .text($0.name) })
                try output.line(JSONText.members(["queues": names, "suspended": .boolean(Self.isSuspension)]).line)
            }
            return .done
        }
    }
}

struct Suspend: SuspensionCommand {
    static let configuration = CommandConfiguration(
        abstract: "Suspend queues on all machines. Running operations continue.")
    fileprivate static let isSuspension = true

    @OptionGroup var store: StoreOptions
    @Argument(help: "The names of queues.") var queues: [String]

    func run() async throws { try await change() }
}

struct Resume: SuspensionCommand {
    static let configuration = CommandConfiguration(abstract: "Resume queues on all machines.")
    fileprivate static let isSuspension = false

    @OptionGroup var store: StoreOptions
    @Argument(help: "The names of queues.") var queues: [String]

    func run() async throws { try await change() }
}

struct Limits: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show or set the limits and rates of queues and keys.",
        discussion:
            "Example: durable --store work.db limits mail --limit 8 --rate 100/1m. The value 'none' removes a limit.")

    @OptionGroup var store: StoreOptions
    @OptionGroup var watch: WatchOptions

    @Argument(help: "The name of a queue; all queues if it is absent.") var queue: String?

    @Option(help: "The key to which --limit and --rate apply, in place of the queue.") var key: String?
    @Option(help: "The largest number of running operations on all machines.") var limit: String?
    @Option(help: "The largest number of starts in a time, such as 10/1s.") var rate: String?
    @Option(help: "The limit of each key without a limit of its own.") var limitPerKey: String?
    @Option(help: "The rate of each key without a rate of its own.") var ratePerKey: String?

    private var isChange: Bool { limit != nil || rate != nil || limitPerKey != nil || ratePerKey != nil }

    func validate() throws {
        if isChange, queue == nil { throw ValidationError("a limit needs the name of a queue") }
        if isChange, watch.watch { throw ValidationError("--watch changes nothing") }
        if key != nil, limit == nil, rate == nil { throw ValidationError("--key needs --limit or --rate") }
        for text in [limit, limitPerKey].compactMap(\.self) where text != "none" && (Int(text) ?? -1) < 0 {
            throw ValidationError("'\(text)' is no limit, which is a number or 'none'")
        }
        for text in [rate, ratePerKey].compactMap(\.self) where text != "none" && RateText.rate(text) == nil {
            throw ValidationError("'\(text)' is no rate, which is 'none', or a number and a time such as 10/1s")
        }
    }

    func run() async throws {
        try await watch.view(store, "durable limits") { store, output in
            let chosen = queue.map { [$0] }
            if isChange { try await change(try await store.snapshot().queues(named: chosen ?? []).map(\.name), store) }
            let snapshot = try await store.snapshot()
            let queues = try chosen.map { try snapshot.queues(named: $0) } ?? snapshot.sortedQueues
            var (rows, list): ([[String]], [JSONText]) = ([], [])
            for queue in queues {
                let keys = try await DurableQueue(queue.name, in: store).keys()
                rows += LimitView.rows(queue, keys)
                list.append(LimitView.json(queue, keys))
            }
            return try output.list(
                "queues", of: "queue", LimitView.columns, rows, json: self.store.json ? list : nil)
        }
    }

    private func change(_ names: [String], _ store: any DurableStore) async throws {
        for queue in names.map({ DurableQueue($0, in: store) }) {
            if let limit {
                if let key {
                    try await queue.setLimit(Int(limit), forKey: key)
                } else {
                    try await queue.setLimit(Int(limit))
                }
            }
            if let rate = rate.map(RateText.rate) {
                if let key { try await queue.setRate(rate, forKey: key) } else { try await queue.setRate(rate) }
            }
            if let limitPerKey { try await queue.setLimitPerKey(Int(limitPerKey)) }
            if let rate = ratePerKey.map(RateText.rate) { try await queue.setRatePerKey(rate) }
        }
    }
}
