import ArgumentParser
import DurableTool
import OperationsDurable

struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List operations, in the order of their additions.",
        discussion: "Example: durable --store work.db list --state failed,crashed --queue mail --older 1h")

    @OptionGroup var store: StoreOptions
    @OptionGroup var watch: WatchOptions
    @OptionGroup var chosen: SelectionOptions

    @Option(help: ArgumentHelp("The largest number of operations; 0 for all.", valueName: "number"))
    var limit = 1_000

    @Option(help: ArgumentHelp("List operations behind this one.", valueName: "id"))
    var after: String?

    /// The number of operations of one question. Each has at most one error text and its names.
    private static let pageSize = 500

    func run() async throws {
        guard limit >= 0 else { throw Failure(.wrongUse, "--limit is below zero") }
        var filter: DurableFilter
        do {
            filter = try chosen.selection.filter(mustLimit: false)
            filter.after = try after.map { try Selection.id($0) }
        } catch { throw Failure(error, store: nil) }
        let limit = limit == 0 ? Int.max : limit
        try await watch.view(store, "durable list") { [filter] store, output in
            try await list(filter, limit, store, output)
        }
    }

    private func list(
        _ filter: DurableFilter, _ limit: Int, _ store: any DurableStore, _ output: Output
    ) async throws -> ExitStatus {
        let now = try await store.snapshot().instant
        var (filter, count, layout) = (filter, 0, TableLayout?.none)
        if self.store.json { try output.part("{\"operations\":[") }
        while count < limit {
            filter.limit = min(Self.pageSize, limit - count)
            let page = try await store.records(matching: filter, includesInputs: false)
            guard let last = page.last else { break }
            let views = page.map { OperationView($0, now: now) }
            if self.store.json {
                for view in views {
                    try output.part("\(count == 0 ? "" : ",")\(JSONText.object(view.members).line)")
                    count += 1
                }
            } else {
                let rows = views.map(\.row)
                if layout == nil {
                    layout = TableLayout(OperationView.columns, sample: rows, limit: output.width)
                    if let layout { try output.line(layout.header) }
                }
                for row in rows { if let layout { try output.line(layout.line(row)) } }
                count += rows.count
            }
            filter.after = last.id
            if page.count < filter.limit { break }
        }
        filter.limit = 1
        let more = count == limit ? try await !store.operations(matching: filter).isEmpty : false
        let next = more ? filter.after : nil
        if self.store.json {
            try output.line("],\"next\":\(JSONText(next).line)}")
        } else {
            if let next { try output.note("more operations match; continue with --after \(next)") }
            if count == 0 { try output.note("no operation matches") }
        }
        return count == 0 ? .refused : .done
    }
}
