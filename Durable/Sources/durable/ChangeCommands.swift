import ArgumentParser
import DurableTool
import Foundation
import OperationsDurable

/// The store and the options of a change of operations.
struct ChangeOptions: ParsableArguments {
    @OptionGroup var store: StoreOptions

    @OptionGroup var chosen: SelectionOptions

    @Flag(help: "Choose all operations.")
    var all = false

    @Flag(help: "Change more than one operation without a question.")
    var yes = false

    @Flag(help: "List the operations that would change, and change nothing.")
    var dryRun = false
}

/// A command that changes the operations of a selection.
protocol ChangeCommand: AsyncParsableCommand {
    static var kind: ChangeKind { get }
    var change: ChangeOptions { get }

    /// Changes the operations of the filter, and returns the changed operations.
    func apply(_ store: any DurableStore, _ filter: DurableFilter) async throws -> [OperationID]
}

extension ChangeCommand {
    func run() async throws {
        var selection = change.chosen.selection
        selection.isAll = change.all
        let filter: DurableFilter
        do { filter = try selection.filter(mustLimit: true) } catch { throw Failure(error, store: nil) }
        try await change.store.withStore { store, output in
            var refusals = try await refusals(of: filter, store)
            let selected = try await select(filter, store)
            for text in refusals.prefix(20) { try output.note(text) }
            if selected.isEmpty, refusals.isEmpty { try output.note("no operation matches") }
            if change.dryRun {
                try await list(selected, store, output)
            } else if !selected.isEmpty, !isConfirmed(selected.count) {
                return .refused
            }
            let (changed, others) = change.dryRun ? ([], []) : try await apply(to: selected, store)
            for text in others.prefix(20) { try output.note(CellText(text, limit: 1_000).text) }
            refusals += others
            if change.store.json {
                let result = Self.kind.json(
                    isDry: change.dryRun, selected: selected.count, changed: change.dryRun ? selected : changed,
                    refused: refusals.count)
                try output.line(result.line)
            } else if !change.dryRun, !selected.isEmpty {
                try output.line(Self.kind.result(changed.count))
            }
            let isDone = change.dryRun ? !selected.isEmpty : !changed.isEmpty
            return isDone && refusals.isEmpty ? .done : .refused
        }
    }

    /// Returns texts about the named operations that are unknown, or in a state that refuses the change.
    private func refusals(of filter: DurableFilter, _ store: any DurableStore) async throws -> [String] {
        guard let ids = filter.ids else { return [] }
        let known = try await store.records(matching: DurableFilter(ids: ids, limit: .max), includesInputs: false)
        let states = Dictionary(uniqueKeysWithValues: known.map { ($0.id, $0.state) })
        return ids.sorted().compactMap { id in
            guard let state = states[id] else { return "the store has no operation \(id)" }
            return Self.kind.refusal(of: state).map { "operation \(id) \($0)" }
        }
    }

    /// Returns the operations that match and permit the change.
    private func select(_ filter: DurableFilter, _ store: any DurableStore) async throws -> [OperationID] {
        var (filter, found) = (filter, [OperationID]())
        filter.states = filter.states?.intersection(Self.kind.states) ?? Self.kind.states
        while true {
            let page = try await store.operations(matching: filter)
            found += page
            if page.count < filter.limit { return found }
            filter.after = page.last
        }
    }

    private func list(_ ids: [OperationID], _ store: any DurableStore, _ output: Output) async throws {
        if change.store.json || ids.isEmpty { return }
        let now = try await store.snapshot().instant
        var layout: TableLayout?
        for start in stride(from: 0, to: ids.count, by: 500) {
            let filter = DurableFilter(ids: Set(ids[start..<min(start + 500, ids.count)]))
            let rows = try await store.records(matching: filter, includesInputs: false)
                .map { OperationView($0, now: now).row }
            let known = layout ?? TableLayout(OperationView.columns, sample: rows, limit: output.width)
            if layout == nil { try output.line(known.header) }
            layout = known
            for row in rows { try output.line(known.line(row)) }
        }
    }

    /// Returns whether the caller permits the change. Asks on a terminal.
    private func isConfirmed(_ count: Int) -> Bool {
        guard ChangeKind.mustAsk(count, isConfirmed: change.yes) else { return true }
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
            printError(
                "durable: \(Self.kind.rawValue) would change \(count) operations; add --yes, or look with --dry-run")
            return false
        }
        FileHandle.standardError.write(Data("\(Self.kind.rawValue) \(count) operations? [y/N] ".utf8))
        return ["y", "yes"].contains(readLine()?.lowercased())
    }

    /// Changes operations in batches. A batch of which the store refuses one operation is repeated one by one.
    private func apply(
        to ids: [OperationID], _ store: any DurableStore
    ) async throws -> (changed: [OperationID], refused: [String]) {
        var (changed, refused): ([OperationID], [String]) = ([], [])
        for start in stride(from: 0, to: ids.count, by: 500) {
            let batch = Array(ids[start..<min(start + 500, ids.count)])
            do {
                changed += try await apply(store, filter(batch))
                continue
            } catch let error as DurableError {
                if Failure(error, store: nil).status == .noStore {
                    if !changed.isEmpty { printError("durable: \(Self.kind.result(changed.count)) before the error") }
                    throw error
                }
            }
            for id in batch {
                do { changed += try await apply(store, filter([id])) } catch let error as DurableError {
                    if Failure(error, store: nil).status == .noStore { throw error }
                    refused.append("operation \(id) refused: \(error)")
                }
            }
        }
        return (changed, refused)
    }

    private func filter(_ ids: [OperationID]) -> DurableFilter { DurableFilter(ids: Set(ids), limit: ids.count) }
}

struct Retry: ChangeCommand {
    static let configuration = CommandConfiguration(
        abstract: "Give failed, crashed, cancelled and discarded operations new attempts.")
    static let kind = ChangeKind.retry

    @OptionGroup var change: ChangeOptions

    func apply(_ store: any DurableStore, _ filter: DurableFilter) async throws -> [OperationID] {
        try await store.retry(matching: filter)
    }
}

struct Cancel: ChangeCommand {
    static let configuration = CommandConfiguration(
        abstract: "Cancel operations that have not ended, and their children.")
    static let kind = ChangeKind.cancel

    @OptionGroup var change: ChangeOptions

    func apply(_ store: any DurableStore, _ filter: DurableFilter) async throws -> [OperationID] {
        try await store.cancel(matching: filter)
    }
}

struct Discard: ChangeCommand {
    static let configuration = CommandConfiguration(abstract: "End operations that do not run, without running them.")
    static let kind = ChangeKind.discard

    @OptionGroup var change: ChangeOptions

    @Option(help: "The reason, which the record keeps.")
    var reason = "discarded by the command durable"

    func apply(_ store: any DurableStore, _ filter: DurableFilter) async throws -> [OperationID] {
        try await store.discard(matching: filter, reason: reason)
    }
}

struct Move: ChangeCommand {
    static let configuration = CommandConfiguration(abstract: "Move operations that do not run to another queue.")
    static let kind = ChangeKind.move

    @OptionGroup var change: ChangeOptions

    @Option(help: "The name of the other queue, which is created if necessary.")
    var to: String

    func apply(_ store: any DurableStore, _ filter: DurableFilter) async throws -> [OperationID] {
        try await store.move(matching: filter, to: to)
    }
}

struct Delete: ChangeCommand {
    static let configuration = CommandConfiguration(abstract: "Remove the records of operations that have ended.")
    static let kind = ChangeKind.delete

    @OptionGroup var change: ChangeOptions

    func apply(_ store: any DurableStore, _ filter: DurableFilter) async throws -> [OperationID] {
        try await store.delete(matching: filter)
    }
}

struct Prioritize: ChangeCommand {
    static let configuration = CommandConfiguration(abstract: "Set the priority of operations that have not ended.")
    static let kind = ChangeKind.prioritize

    @OptionGroup var change: ChangeOptions

    @Option(
        help: "One of veryLow, low, normal, high, veryHigh.",
        completion: .list(DurablePriority.allCases.map { "\($0)" }))
    var to: String

    func validate() throws {
        if priority == nil { throw ValidationError("the priority is none of veryLow, low, normal, high, veryHigh") }
    }

    private var priority: DurablePriority? { DurablePriority.allCases.first { "\($0)" == to } }

    func apply(_ store: any DurableStore, _ filter: DurableFilter) async throws -> [OperationID] {
        try await store.setPriority(priority ?? .normal, matching: filter)
    }
}
