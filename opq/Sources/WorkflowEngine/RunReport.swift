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
    private let isASCII: Bool
    private let name: String?

    /// Creates a report with the given amount of detail, with or without terminal colors.
    ///
    /// - Parameters:
    ///   - isASCII: Whether the marks are characters of ASCII.
    ///   - name: The name of the workflow, which the summary begins with.
    public init(detail: Detail = .normal, isColoured: Bool = false, isASCII: Bool = false, name: String? = nil) {
        self.detail = detail
        self.isColoured = isColoured
        self.isASCII = isASCII
        self.name = name
    }

    /// Returns the line for an operation that starts. `nil` if the report contains no such line.
    public func line(forStartOf operation: PlannedOperation) -> String? {
        guard detail == .verbose else { return nil }
        return coloured("\(mark("›", ">")) \(operation.name.visible)  \(operation.command.visibleLines)", .dim)
    }

    /// Returns the line for an operation that gets the terminal. `nil` if the report contains no such line.
    public func line(forTerminalOf operation: PlannedOperation) -> String? {
        detail == .normal ? coloured("\(mark("›", ">")) \(operation.name.visible)", .dim) : line(forStartOf: operation)
    }

    /// Returns the line for an operation that ended. `nil` if the report contains no such line.
    public func line(for conclusion: Conclusion) -> String? {
        let name = conclusion.name.visible
        switch conclusion.outcome {
        case .succeeded:
            guard detail != .quiet else { return nil }
            return coloured(mark("✓", "ok"), .green) + " \(name)"
                + (conclusion.duration.map { "  \($0.seconds)" } ?? "")
        case .upToDate, .unneeded:
            return detail == .verbose
                ? coloured("= \(name)  \(conclusion.outcome == .upToDate ? "up to date" : "not needed")", .dim) : nil
        case .failed(let failure):
            let tolerated = conclusion.isTolerated ? " (may fail)" : ""
            return coloured(mark("✗", "FAILED"), conclusion.isTolerated ? .yellow : .red)
                + " \(name)  \(Self.text(of: failure).visible)\(tolerated)"
        case .skipped(let reason):
            guard detail != .quiet else { return nil }
            return coloured(mark("–", "-"), .yellow) + " \(name)  skipped: \(reason.visible)"
        case .cancelled:
            guard conclusion.duration != nil && detail != .quiet || detail == .verbose else { return nil }
            return coloured(mark("–", "-"), .yellow) + " \(name)  cancelled"
        }
    }

    /// Returns the line for the successes of a family.
    public func line(forFamily name: String, successes: Int, time: Duration) -> String {
        coloured(mark("✓", "ok"), .green) + " \(name.visible) (\(successes))  \(time.seconds)"
    }

    private func mark(_ text: String, _ ascii: String) -> String { isASCII ? ascii : text }

    /// Whether the report shows the output of an operation.
    public func showsOutput(of conclusion: Conclusion) -> Bool {
        switch conclusion.outcome {
        case .failed: true
        case .succeeded, .upToDate, .unneeded, .skipped, .cancelled: detail != .quiet
        }
    }

    /// Returns the last line of the report. `nil` if the report contains no summary.
    public func summary(of result: RunResult) -> String? {
        var counts = (succeeded: 0, upToDate: 0, failed: 0, tolerated: 0, skipped: 0, unneeded: 0, cancelled: 0)
        for conclusion in result.conclusions {
            switch conclusion.outcome {
            case .succeeded: counts.succeeded += 1
            case .upToDate: counts.upToDate += 1
            case .unneeded: counts.unneeded += 1
            case .failed where conclusion.isTolerated: counts.tolerated += 1
            case .failed: counts.failed += 1
            case .skipped: counts.skipped += 1
            case .cancelled: counts.cancelled += 1
            }
        }
        if detail == .quiet, result.conclusions.allSatisfy({ $0.isFine }) { return nil }
        let parts = [
            coloured("\(counts.succeeded) succeeded", counts.succeeded > 0 ? .green : .plain),
            counts.upToDate > 0 ? "\(counts.upToDate) up to date" : nil,
            counts.tolerated > 0 ? coloured("\(counts.tolerated) failed, as mayFail permits", .yellow) : nil,
            counts.unneeded > 0 ? "\(counts.unneeded) not needed" : nil,
            counts.failed > 0 ? coloured("\(counts.failed) failed", .red) : nil,
            counts.skipped > 0 ? coloured("\(counts.skipped) skipped", .yellow) : nil,
            counts.cancelled > 0 ? coloured("\(counts.cancelled) cancelled", .yellow) : nil,
        ]
        return (name.map { "\($0.visible): " } ?? "") + parts.compactMap(\.self).joined(separator: ", ")
            + " in \(result.wallTime.seconds) (\(result.processorTime.seconds) of processor time)"
    }

    /// Returns the lines that name each failed operation, with its command, its status and the end of its output.
    ///
    /// - Parameters:
    ///   - commands: The commands of the operations, in the order of the results.
    ///   - outputs: The ends of the outputs of failed operations, by the names of the operations.
    public func failures(of result: RunResult, commands: [String], outputs: [String: String]) -> [String] {
        let (most, lineCount) = (20, 10)
        let failed = zip(result.conclusions, commands).filter { conclusion, _ in
            if case .failed = conclusion.outcome { !conclusion.isTolerated } else { false }
        }
        var lines: [String] = []
        for (conclusion, command) in failed.prefix(most) {
            guard case .failed(let failure) = conclusion.outcome else { continue }
            lines.append(coloured("failed: \(conclusion.name.visible)  \(Self.text(of: failure).visible)", .red))
            lines += command.visibleLines.split(separator: "\n").map { "  $ \($0)" }
            let output = (outputs[conclusion.name] ?? "").split(separator: "\n", omittingEmptySubsequences: false)
            lines += output.reversed().drop { $0.isEmpty }.prefix(lineCount).reversed().map { "  | \($0)" }
        }
        if failed.count > most { lines.append("and \(failed.count - most) more failed") }
        return lines
    }

    static func text(of failure: Outcome.Failure) -> String {
        switch failure {
        case .exit(let status): "exit \(status)"
        case .signal(let number): "signal \(number)" + (signalNames[number].map { " (\($0))" } ?? "")
        case .unstartable(let reason): "cannot start: \(reason)"
        case .unknown(let reason): reason
        case .missingOutput(let path): "the output '\(path)' is missing"
        case .badDepfile(let path, let line): "line \(line) of the depfile '\(path)' has no colon"
        case .badCapture(let reason), .noItems(let reason): reason
        case .timedOut(let limit): "timed out after \(limit.seconds)"
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
    package var seconds: String {
        let hundredths = (components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 + 5) / 10
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)s"
    }
}
