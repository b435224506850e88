import Glibc

/// The runs of a workflow as texts for the user.
public struct RunRecords: Sendable {
    /// The reason why a record cannot be shown.
    public struct Failure: Error, Equatable {
        /// The reason with the remedy.
        public let text: String
    }

    private let file: String
    let runs: [RunHistory.Run]
    /// Whether a process executes the last run now.
    private let isRunning: Bool

    /// Reads the records of a workflow file.
    ///
    /// - Throws: ``RunStore/Failure``.
    public init(of workflow: String) throws(RunStore.Failure) {
        // First, because a run that ends meanwhile has its end in the history.
        let isRunning = RunStore.isRunning(workflow)
        self.init(of: workflow, try RunStore.history(of: workflow), isRunning: isRunning)
    }

    init(of workflow: String, _ history: RunHistory, isRunning: Bool = false) {
        (file, runs, self.isRunning) = (workflow, history.runs, isRunning)
    }

    /// The number of the last run, and the part of the workflow for which it was asked. `nil` if no run is recorded.
    public var lastChoice: (run: Int, choice: RunChoice)? { runs.last.map { ($0.number, $0.choice) } }

    /// The names of the operations that failed in the last run.
    public var lastFailures: [String] { (runs.last?.ownEnds ?? []).filter { $0.kind == .failed }.map(\.name) }

    /// A line for each run, the first one first.
    public var history: [String] {
        guard !runs.isEmpty else { return ["no run of '\(file)' is recorded".visible] }
        return runs.map { run in
            let time = run.endTime.map { Duration.nanoseconds(max($0 - run.time, 0)).seconds } ?? mark(ofUnended: run)
            return "\(run.number)  \(Self.date(run.time))  \(time)  \(Self.counts(of: run))"
        }
    }

    private func stillRuns(_ run: RunHistory.Run) -> Bool { isRunning && run.number == runs.last?.number }

    /// The word for a run that has no end, and for its commands.
    private func mark(ofUnended run: RunHistory.Run) -> String { stillRuns(run) ? "still runs" : "did not end" }

    private func line(forUnended key: ByteKey, of run: RunHistory.Run) -> String {
        let mark = mark(ofUnended: run)
        let start = stillRuns(run) ? run.processes[key]?.earliest : nil
        let time = start.map { "  \(Duration.nanoseconds(max(ProcessMark.now - $0, 0)).seconds)" } ?? ""
        return "\(mark)  \(key.text.visible)\(time)"
    }

    /// Returns a line for each operation of a run that has ended or runs.
    ///
    /// - Parameters:
    ///   - number: The number of the run. `nil` stands for the last one.
    ///   - names: The operations to show. Empty for all.
    /// - Throws: ``Failure`` if there is no such run or operation.
    public func show(run number: Int?, names: [String]) throws(Failure) -> [String] {
        guard let run = number.map({ number in runs.first { $0.number == number } }) ?? runs.last else {
            throw Failure(
                text: runs.isEmpty
                    ? "no run of '\(file)' is recorded" : "no run \(number ?? 0) is recorded; see 'opq history'")
        }
        let (ends, unended) = (run.ends, run.endTime == nil ? run.unended : [])
        let known = Set(ends.map { ByteKey($0.name) } + unended)
        if let name = names.first(where: { !known.contains(ByteKey($0)) }) {
            throw Failure(text: "run \(run.number) has no operation '\(name)'")
        }
        let asked = Set(names.map { ByteKey($0) })
        func isShown(_ key: ByteKey) -> Bool { asked.isEmpty || asked.contains(key) }
        return ends.filter { isShown(ByteKey($0.name)) }.map { Self.line(for: $0) }
            + unended.filter(isShown).map { line(forUnended: $0, of: run) }
    }

    /// Passes the log of an operation to `body`, in chunks.
    ///
    /// - Throws: ``Failure`` if no output is recorded, and the errors of `body`.
    public func readLog(of name: String, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let end = runs.last { run in
            run.ownEnds.contains { $0.name.hasSameBytes(as: name) && $0.duration != nil }
        }
        guard let last = end?.ownEnds.last(where: { $0.name.hasSameBytes(as: name) && $0.duration != nil })
        else {
            throw Failure(text: "no run of the operation '\(name)' is recorded; see 'opq show'")
        }
        if last.log == .lost { throw Failure(text: "the output of '\(name)' could not be recorded") }
        guard last.log == .inFile else { return }
        let path = RunStore.log(of: name, in: RunStore.folder(of: file))
        let log = path.withFileName { open($0, O_RDONLY | O_CLOEXEC) }
        guard log >= 0 else { throw Failure(text: "cannot read \(path): \(errorText(errno))") }
        defer { close(log) }
        try withUnsafeTemporaryAllocation(byteCount: 64 * 1024, alignment: 16) { chunk in
            while case let count = Glibc.read(log, chunk.baseAddress, chunk.count), count > 0 {
                try body(UnsafeRawBufferPointer(rebasing: chunk[..<count]))
            }
        }
    }

    private static func line(for end: OperationEnd) -> String {
        let mark: String
        switch end.kind {
        case .succeeded: mark = "succeeded"
        case .upToDate: mark = "up to date"
        case .failed: mark = "failed"
        case .skipped: mark = "skipped"
        case .cancelled: mark = "cancelled"
        }
        let time = end.duration.map { "  \(Duration.nanoseconds($0).seconds)" } ?? ""
        return "\(mark)  \(end.name.visible)\(time)" + (end.text.isEmpty ? "" : "  \(end.text.visible)")
    }

    private static func counts(of run: RunHistory.Run) -> String {
        let names: [(OperationEnd.Kind, String)] = [
            (.succeeded, "succeeded"), (.upToDate, "up to date"), (.failed, "failed"), (.skipped, "skipped"),
            (.cancelled, "cancelled"),
        ]
        let parts = names.compactMap { kind, name in
            let count =
                run.ownEnds.count { $0.kind == kind }
                + run.groups.reduce(0) { $1.kind == kind ? $0 + $1.names.count : $0 }
            return count == 0 ? nil : "\(count) \(name)"
        }
        return parts.isEmpty ? "nothing ended" : parts.joined(separator: ", ")
    }

    /// Returns the local time of an instant, as in `2026-11-30 02:15:09`.
    static func date(_ time: Int64) -> String {
        var seconds = time_t(time / 1_000_000_000)
        var local = tm()
        localtime_r(&seconds, &local)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(1900 + local.tm_year)-\(two(local.tm_mon + 1))-\(two(local.tm_mday)) "
            + "\(two(local.tm_hour)):\(two(local.tm_min)):\(two(local.tm_sec))"
    }
}

extension RunStore {
    /// Returns the duration of the last success of each operation of a plan. `nil` if none is recorded.
    public func durations(of plan: WorkflowPlan) -> [Duration?] { history.durations(of: plan.operations) }

    /// Returns a note for a run that continues the last one. `nil` if the workflow file has not changed since.
    public func noteForResume(_ file: [UInt8]) -> String? {
        guard let last = history.runs.last else { return "no run is recorded, so all operations run" }
        return last.file == Digest(of: file)
            ? nil : "the workflow file has changed since run \(last.number); operations that changed run again"
    }
}
