import ArgumentParser
import DurableCore
import DurableTool
import OperationsDurable

struct Schedules: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List schedules with their next times, or remove one.")

    @OptionGroup var store: StoreOptions
    @OptionGroup var watch: WatchOptions

    @Option(help: ArgumentHelp("Remove a schedule. Operations that it added stay.", valueName: "name"))
    var remove: String?

    func run() async throws {
        try await watch.view(store, "durable schedules") { store, output in
            if let remove {
                guard try await store.schedules().contains(where: { ExactName($0.id) == ExactName(remove) }) else {
                    throw Failure(.refused, "the store has no schedule '\(remove)'")
                }
                try await store.removeSchedule(remove)
            }
            let schedules = try await store.schedules()
            if remove != nil, schedules.isEmpty, !self.store.json { return .done }
            let now = try await store.snapshot().instant
            let status = try output.list(
                "schedules", of: "schedule", ScheduleView.columns, schedules.map { ScheduleView.row($0, now: now) },
                json: self.store.json ? schedules.map(ScheduleView.json) : nil)
            return remove == nil ? status : .done
        }
    }
}

struct Workers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List workers, with the rest of their leases and the number of operations that they run.")

    @OptionGroup var store: StoreOptions
    @OptionGroup var watch: WatchOptions

    func run() async throws {
        try await watch.view(store, "durable workers") { store, output in
            let snapshot = try await store.snapshot()
            let workers = snapshot.workers.sorted { $0.id < $1.id }
            return try output.list(
                "workers", of: "worker", WorkerView.columns,
                workers.map { WorkerView.row($0, now: snapshot.instant) },
                json: self.store.json ? workers.map { WorkerView.json($0, now: snapshot.instant) } : nil)
        }
    }
}

struct Stats: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Count operations by name and state. The time does not depend on their number.")

    @OptionGroup var store: StoreOptions
    @OptionGroup var watch: WatchOptions

    func run() async throws {
        try await watch.view(store, "durable stats") { store, output in
            let stats = StatsView(try await store.snapshot(), schedules: try await store.schedules().count)
            if self.store.json {
                try output.line(stats.json.line)
            } else {
                for line in TableLayout.lines(StatsView.columns, stats.rows, limit: output.width) {
                    try output.line(line)
                }
                try output.line(CellText(stats.summary, limit: output.width).text)
            }
            return .done
        }
    }
}

struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check the file of SQLite, and the counts and states of the store. Changes nothing.")

    @OptionGroup var store: StoreOptions

    func run() async throws {
        try await store.withStore { store, output in
            var problems: [String] = []
            if let file = store as? SQLiteStore { problems = try await file.checkFile() }
            do { problems += try await store.check() } catch DurableError.unavailable(let text) where !problems.isEmpty
            {
                problems.append(text)
            }
            if self.store.json {
                let texts = JSONText.list(problems.map { .text($0) })
                try output.line(JSONText.members(["sound": .boolean(problems.isEmpty), "problems": texts]).line)
            } else {
                for problem in problems { try output.line(CellText(problem, limit: output.width).text) }
                if problems.isEmpty { try output.line("the store is sound") }
            }
            return problems.isEmpty ? .done : .refused
        }
    }
}
