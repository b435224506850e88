import DashboardCore

extension Dashboard {
    /// Adds the work that a program reports. The dashboard keeps the reporter.
    ///
    /// - Parameters:
    ///   - reporter: The work of the program.
    ///   - name: The title on the page.
    public func add(_ reporter: any DashboardReporter, name: String) {
        add { id, _ in ReportSource(reporter, name: name, id: id) }
    }
}

/// The work that a program reports.
final class ReportSource: Source {
    let id: String
    private let name: String
    private let reporter: any DashboardReporter

    init(_ reporter: any DashboardReporter, name: String, id: String) {
        (self.reporter, self.name, self.id) = (reporter, name, id)
    }

    func open() {}
    func close() {}

    func answer(_ question: Question, done: @escaping @Sendable (Result<JSON, HTTPStatus>) -> Void) {
        let report = reporter.report()
        switch question {
        case .overview: done(.success(report.overview(id: id, name: name, now: .now)))
        case .operations(let search):
            done(.success(report.rows(search, now: .now) { [reporter] in reporter.reason(for: $0) }))
        case .operation(let number):
            guard let index = Int(exactly: number), report.operations.indices.contains(index) else {
                return done(.failure(.notFound))
            }
            done(.success(report.json(of: index, reporter.detail(of: index), now: .now)))
        case .timeline(let seconds): done(.success(report.timeline(seconds: seconds, now: .now)))
        case .graph: done(.success(FoldedGraph(report.graph).json))
        case .steer: done(.failure(.forbidden))
        }
    }
}
