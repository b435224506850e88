import DashboardCore
import Synchronization
import Testing

@testable import OperationsDashboard

@Suite struct DashboardReportTests {
    private let start = ContinuousClock.now

    private var report: DashboardReport {
        var report = DashboardReport()
        func operation(_ name: String, _ state: DashboardReport.State, _ times: ClosedRange<Int>? = nil) {
            var operation = DashboardReport.Operation(name: name)
            operation.state = state
            operation.began = times.map { start + .seconds($0.lowerBound) }
            operation.ended = state == .running ? nil : times.map { start + .seconds($0.upperBound) }
            report.operations.append(operation)
        }
        operation("fetch", .done, 0...2)
        operation("parse", .failed, 2...3)
        operation("slow", .running, 2...2)
        operation("sum", .waiting)
        operation("late", .skipped)
        report.operations[3].dependencies = [0..<3]
        return report
    }

    private func names(_ rows: JSON) -> [String] {
        guard case .list(let rows) = rows["rows"] else { return [] }
        return rows.compactMap { if case .text(let name) = $0["name"] { name } else { nil } }
    }

    @Test func `running operations come first, then failed and waiting ones, then the others`() {
        let rows = report.rows(.init(), now: start + .seconds(9)) { "waits for number \($0)" }
        #expect(names(rows) == ["slow", "parse", "sum", "fetch", "late"])
        let text = String(decoding: rows.bytes, as: UTF8.self)
        #expect(text.contains(#""name":"slow","state":"running","seconds":7.0"#) && text.contains("waits for number 3"))
        #expect(names(report.rows(.init(text: "S"), now: start) { _ in "" }) == ["slow", "parse", "sum"])
        #expect(names(report.rows(.init(cursor: 3), now: start) { _ in "" }) == ["fetch", "late"])
    }

    @Test func `the numbers are counted, and the time stops at the end`() {
        var report = report
        let overview = report.overview(id: "s0", name: "run", now: start + .seconds(9))
        #expect(
            overview["running"] == .number(1) && overview["skipped"] == .number(1) && overview["ran"] == .decimal(9))
        report.ended = start + .seconds(5)
        #expect(report.overview(id: "s0", name: "run", now: start + .seconds(9))["ran"] == .decimal(5))
        #expect(DashboardReport().overview(id: "s0", name: "run", now: start)["ran"] == .null)
    }

    @Test func `the bars are those of the last seconds, also before an end in the past`() {
        var report = report
        report.ended = start + .seconds(4)
        let all = String(decoding: report.timeline(seconds: 60, now: start + .seconds(999)).bytes, as: UTF8.self)
        #expect(all.contains("fetch") && all.contains("slow") && !all.contains("sum"))
        let last = String(decoding: report.timeline(seconds: 1, now: start + .seconds(999)).bytes, as: UTF8.self)
        #expect(!last.contains("fetch") && last.contains("slow"))
    }

    @Test func `a large graph has a node for each family, with the state that needs attention`() {
        var report = DashboardReport()
        for family in ["a", "b"] {
            for number in 0..<5000 {
                var operation = DashboardReport.Operation(name: "\(family)[\(number)]")
                operation.family = family
                operation.state = family == "a" ? (number == 77 ? .failed : .done) : .waiting
                operation.dependencies = family == "b" ? [0..<5000] : []
                report.operations.append(operation)
            }
        }
        let folded = FoldedGraph(report.graph)
        #expect(folded.nodes.map(\.name) == ["a", "b"] && folded.nodes.map(\.count) == [5000, 5000])
        #expect(folded.nodes.map(\.state) == ["failed", "waiting"] && folded.edges.count == 1)
        #expect(folded.operationCount == 10_000)
    }

    @Test func `a page shows a report with its output, and the last state when the server ends`() async throws {
        final class Reporter: DashboardReporter {
            let state: Mutex<DashboardReport>
            init(_ report: DashboardReport) { state = Mutex(report) }
            func report() -> DashboardReport { state.withLock { $0 } }
            func reason(for index: Int) -> String { "waits" }
            func detail(of index: Int) -> DashboardReport.Detail {
                var detail = DashboardReport.Detail()
                detail.facts = [("command", "echo <b>")]
                detail.output = String(repeating: "line\n", count: 100_000) + "last"
                return detail
            }
        }
        let reporter = Reporter(report)
        let stream = try await {
            var stream: RawClient?
            try await withDashboard { dashboard, port in
                dashboard.add(reporter, name: "digest")
                let client = RawClient(port: port)
                client.send(head("/api/events", port))
                #expect(frame(with: #""name":"digest","running":1"#, client) != nil)
                let detail = get("/api/operation?source=s0&id=2", port).body
                #expect(detail.contains(#"line\u000alast"#) && detail.utf8.count < 120_000)
                #expect(detail.contains(#"["command","echo \u003cb\u003e"]"#))
                #expect(get("/api/operation?source=s0&id=5", port).status == 404)
                #expect(get("/api/graph?source=s0", port).body.contains(#""edges":[[0,3],[1,3],[2,3]]"#))
                #expect(steer("source=s0&action=suspend", port) == 403)
                reporter.state.withLock { report in
                    report.operations[2].state = .done
                    report.ended = .now
                }
                stream = client
            }
            return try #require(stream)
        }()
        #expect(frame(with: "event: end", stream) != nil)
    }
}
