import WorkflowEngine

#if Dashboard
import ArgumentParser
import OperationsDashboard

/// The page of a past run.
final class PastPage: DashboardReporter {
    private let run: PastRun
    private let records: RunRecords
    private let shown: DashboardReport

    private init(_ run: PastRun, _ records: RunRecords) {
        (self.run, self.records) = (run, records)
        var report = DashboardReport()
        report.operations = run.rows.map { row in
            var operation = DashboardReport.Operation(name: row.name)
            (operation.state, operation.note, operation.ran) = (.init(row.state), row.note, row.ran)
            return operation
        }
        (report.took, report.ended) = (run.took, .now)
        shown = report
    }

    /// Serves runs until a signal ends this process.
    static func serve(_ runs: [PastRun], _ records: RunRecords, _ port: Int) throws {
        do {
            let server = try PageServer(port) { dashboard in
                for run in runs { dashboard.add(PastPage(run, records), name: run.title) }
            }
            server.wait()
        } catch {
            print("opq: \(error)", to: &standardError)
            throw ExitCode.badInput
        }
    }

    func report() -> DashboardReport { shown }
    func reason(for index: Int) -> String { "" }

    func detail(of index: Int) -> DashboardReport.Detail {
        var detail = DashboardReport.Detail()
        let row = run.rows[index]
        if row.hasLog { detail.output = try? records.endOfLog(of: row.name, byteCount: RecentOutputs.byteCount) }
        return detail
    }
}
#else

/// The page of a past run, which this build does not have: `PageOption` refuses the option.
enum PastPage {
    static func serve(_ runs: [PastRun], _ records: RunRecords, _ port: Int) throws {}
}
#endif
