/// The texts that describe a run to the user.
public struct RunReport: Sendable {
    /// The amount of detail in the report.
    public enum Detail: String, CaseIterable, Sendable {
        /// Failures with their output. A summary appears only if an operation did not succeed.
        case quiet
        /// A line for every operation that ended, its output, and a summary.
        case normal
        /// In addition, a line with the command for every operation that starts, and lines for operations that were cancelled
        /// before they started.
        case verbose
    }

    private let detail: Detail
    private let isColoured: Bool
    private let name: String?

    /// Creates a report with the given amount of detail, with or without terminal colors.
    ///
    /// - Parameter name: The name of the workflow, which the summary begins with.
    public init(detail: Detail = .normal, isColoured: Bool = false, name: String? = nil) {
        self.detail = detail
        self.isColoured = isColoured
        self.name = name
    }

    /// Returns the line for an operation that starts. `nil` if the report contains no such line.
    public func line(forStartOf operation: PlannedOperation) -> String? {
        guard detail == .verbose else { return nil }
        return coloured("› \(operation.name.visible)  \(operation.command.visibleLines)", .dim)
    }

    /// Returns the line for an operation that ended. `nil` if the report contains no such line.
    public func line(for conclusion: Conclusion) -> String? {
        let name = conclusion.name.visible
        switch conclusion.outcome {
        case .succeeded:
            guard detail != .quiet else { return nil }
            return coloured("✓", .green) + " \(name)" + (conclusion.duration.map { "  \($0.seconds)" } ?? "")
        case .failed(let failure):
            return coloured("✗", .red) + " \(name)  \(Self.text(of: failure).visible)"
        case .skipped(let reason):
            guard detail != .quiet else { return nil }
            return coloured("–", .yellow) + " \(name)  skipped: \(reason.visible)"
        case .cancelled:
            guard conclusion.duration != nil && detail != .quiet || detail == .verbose else { return nil }
            return coloured("–", .yellow) + " \(name)  cancelled"
        }
    }

    /// Whether the report shows the output of an operation.
    public func showsOutput(of conclusion: Conclusion) -> Bool {
        switch conclusion.outcome {
        case .failed: true
        case .succeeded, .skipped, .cancelled: detail != .quiet
        }
    }

    /// Returns the last line of the report. `nil` if the report contains no summary.
    public func summary(of result: RunResult) -> String? {
        var counts = (succeeded: 0, failed: 0, skipped: 0, cancelled: 0)
        for conclusion in result.conclusions {
            switch conclusion.outcome {
            case .succeeded: counts.succeeded += 1
            case .failed: counts.failed += 1
            case .skipped: counts.skipped += 1
            case .cancelled: counts.cancelled += 1
            }
        }
        if detail == .quiet, counts.succeeded == result.conclusions.count { return nil }
        let parts = [
            coloured("\(counts.succeeded) succeeded", counts.succeeded > 0 ? .green : .plain),
            counts.failed > 0 ? coloured("\(counts.failed) failed", .red) : nil,
            counts.skipped > 0 ? coloured("\(counts.skipped) skipped", .yellow) : nil,
            counts.cancelled > 0 ? coloured("\(counts.cancelled) cancelled", .yellow) : nil,
        ]
        return (name.map { "\($0.visible): " } ?? "") + parts.compactMap(\.self).joined(separator: ", ")
            + " in \(result.wallTime.seconds) (\(result.processorTime.seconds) of processor time)"
    }

    static func text(of failure: Outcome.Failure) -> String {
        switch failure {
        case .exit(let status): "exit \(status)"
        case .signal(let number): "signal \(number)" + (signalNames[number].map { " (\($0))" } ?? "")
        case .unstartable(let reason): "cannot start: \(reason)"
        case .outputLost(let end, let directory):
            "\(text(of: end)), but output may be lost: no space was left in '\(directory)'"
        }
    }

    private static func text(of end: ProcessEnd) -> String {
        switch end {
        case .exit(let status): text(of: Outcome.Failure.exit(status))
        case .signal(let number): text(of: Outcome.Failure.signal(number))
        case .unknown(let reason): reason
        }
    }

    private static let signalNames: [Int32: String] = [
        1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
        9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM", 24: "SIGXCPU", 25: "SIGXFSZ",
    ]

    private enum Colour: Int {
        case plain = 0
        case dim = 2
        case red = 31
        case green = 32
        case yellow = 33
    }

    private func coloured(_ text: String, _ colour: Colour) -> String {
        isColoured && colour != .plain ? "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m" : text
    }
}

extension Duration {
    /// The duration in seconds with two decimal places, as in `0.42s`.
    var seconds: String {
        let hundredths = (components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 + 5) / 10
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)s"
    }
}
