import Glibc
import Operations
import Synchronization

/// The decisions of one run about its operations, and their records.
final class RunJournal: Sendable {
    /// The files of an operation before its command.
    struct Prepared: Sendable {
        let fingerprint: Fingerprint
        var inputs: [FileRecord] = []
        /// The files of the last depfile. They are no inputs of this run, unless the new depfile lists them again.
        var listed: [FileRecord] = []
        var outputs: [FileRecord] = []
        /// The time before the command that a file would get, in nanoseconds since 1970.
        var start: Int64 = 0
        let isDeclared: Bool
        /// The outputs that the command may remove if it does not succeed: those that do not exist, and those that it has made.
        var ownOutputs: Set<ByteKey> = []
        /// The captured output of the last success, for an operation that is up to date.
        var captured: String?
    }

    /// The way in which operations ended whose commands did not run.
    private struct EndGroup: Hashable {
        let kind: OperationEnd.Kind
        let text: String
    }

    /// The queue in which files are examined after a command. The thread that waits for commands must not wait for a disk.
    let files = OperationQueue()
    private let plan: WorkflowPlan
    private let store: RunStore?
    private let examiner: FileExaminer
    private let history: RunHistory
    private let isForced: Bool
    /// The successes of the run that is continued. `nil` if the run continues no other.
    private let done: [ByteKey: Fingerprint]?
    /// The places in time at which the commands of the operations ran, in the runs that this run continues.
    private let lastRuns: [Int]
    private let ran = Mutex<Set<Int>>([])
    private let groups = Mutex<[EndGroup: [Int]]>([:])
    private let kept = Mutex<ProtectedPaths?>(nil)
    private let names: Set<ByteKey>
    private let before: (ran: String?, lastRun: Int)

    /// Creates the journal of a run.
    ///
    /// - Parameters:
    ///   - store: The store to which the run is recorded. `nil` if the workflow has no file.
    ///   - earlier: The earlier runs. `nil` stands for those of the store.
    ///   - isForced: Whether all operations run, also those that are up to date.
    ///   - resumes: Whether operations that succeeded in the last run are done.
    ///   - before: An operation outside of the plan that ran before all others in this run, and the last such run.
    init(
        of plan: WorkflowPlan, in store: RunStore?, earlier: RunHistory? = nil, isForced: Bool, resumes: Bool,
        before: (ran: String?, lastRun: Int) = (nil, 0)
    ) {
        self.before = before
        (self.plan, self.store, self.isForced) = (plan, store, isForced)
        history = earlier ?? store?.history ?? RunHistory()
        examiner = FileExaminer(history.cache)
        let resumption = resumes ? Resumption(history.runs) : nil
        done = resumption?.done
        lastRuns = resumption.map { past in plan.operations.map { past.lastRuns[ByteKey($0.name)] ?? 0 } } ?? []
        // Without a record, no name is asked for.
        names = history.runs.isEmpty ? [] : Set((plan.operations.map(\.name) + plan.otherNames).map { ByteKey($0) })
        files.name = "opq-files"
        files.maxConcurrentOperationCount = 2
    }

    // MARK: - The run

    /// Records the start of the run.
    func begin(file: Digest, _ choice: RunChoice) {
        store?.append(.runBegan(number: (history.runs.last?.number ?? 0) + 1, time: FileExaminer.now, file: file))
        var choice = choice
        choice.resumes = done != nil
        if choice != RunChoice() { store?.append(.chosen(choice)) }
        if let store, history.runs.count >= store.keptRuns { store.append(.keeps(runs: store.keptRuns)) }
    }

    /// Records the end of the run. Returns the reason why entries are missing, or `nil`.
    func end(isInterrupted: Bool) -> String? {
        guard let store else { return nil }
        recordFamily()
        store.append(.runEnded(time: FileExaminer.now, isInterrupted: isInterrupted))
        store.synchronize()
        return store.writeFailure.map { "\($0); later runs repeat the operations after that" } ?? store.logFailure
    }

    /// Records the files that were read, and the operations that ended without a run of their commands.
    func recordFamily() {
        let read = examiner.takeRead()
        if !read.isEmpty { store?.append(.seen(read)) }
        let groups = groups.withLock { groups in
            defer { groups = [:] }
            return groups
        }
        for (group, indices) in groups.sorted(by: { $0.value.count < $1.value.count }) {
            let names = indices.sorted().map { plan.operations[$0].name }
            let digest = Digest(of: names)
            if !history.knows(names: digest) { store?.append(.names(digest, names)) }
            store?.append(.endedTogether(group.kind, text: group.text, names: digest))
        }
    }

    /// Returns the journal of the members of a family that were found during the run.
    ///
    /// - Parameters:
    ///   - index: The index of the operation that stands for the family.
    ///   - members: The plan of the members.
    func journal(ofFamilyAt index: Int, _ members: WorkflowPlan) -> RunJournal {
        let earlier = Set(plan.operations[index].awaited.joined())
        let ran = ran.withLock { $0.intersection(earlier).min() }
        let lastRun = lastRuns.isEmpty ? 0 : earlier.map { lastRuns[$0] }.max() ?? 0
        return RunJournal(
            of: members, in: store, earlier: history, isForced: isForced, resumes: done != nil,
            before: (ran.map { plan.operations[$0].name }, lastRun))
    }

    /// Whether an operation has run.
    var hasRun: Bool { ran.withLock { !$0.isEmpty } }

    // MARK: - Before a command

    /// Decides whether an operation runs, and examines its files.
    ///
    /// - Parameter filled: The operation with the values of its captured variables. `nil` for an operation without any.
    func prepare(
        _ index: Int, _ filled: PlannedOperation? = nil
    ) -> (decision: UpToDate.Decision, prepared: Prepared) {
        var (decision, prepared) = decide(index, filled ?? plan.operations[index])
        if decision == .skip, plan.operations[index].settings.capture != nil, prepared.captured == nil {
            decision = .run(.notCaptured)
        }
        return (decision, prepared)
    }

    /// Returns the captured output of the last success of an operation. `nil` if none is recorded.
    func captured(of name: String) -> String? { history.captured(of: name) }

    private func decide(
        _ index: Int, _ operation: PlannedOperation
    ) -> (decision: UpToDate.Decision, prepared: Prepared) {
        let settings = operation.settings
        let fingerprint = Fingerprint(operation, base: plan.directory)
        let isDeclared = settings.inputs != nil || settings.outputs != nil
        var prepared = Prepared(fingerprint: fingerprint, isDeclared: isDeclared)
        prepared.start = FileExaminer.fileTime
        guard isDeclared else {
            if settings.capture != nil { prepared.captured = history.captured(of: operation.name) }
            return (decideWithoutFiles(index, fingerprint), prepared)
        }
        let record = history.record(of: operation.name, fingerprint) { names.contains($0) }
        if settings.capture != nil { prepared.captured = record?.captured }
        prepared.inputs = examiner.examine(settings.inputs ?? [], in: operation.directory)
        prepared.listed = examiner.examine(paths: record?.listed ?? [], in: operation.directory)
        prepared.outputs = examiner.examine(settings.outputs ?? [], in: operation.directory)
        let state = UpToDate.State(
            fingerprint: fingerprint,
            inputs: prepared.listed.isEmpty ? prepared.inputs : (prepared.inputs + prepared.listed).sortedByPath,
            outputs: prepared.outputs, isDeclared: true, namedOutputs: Set(operation.namedOutputs.map { ByteKey($0) }))
        let decision = UpToDate.decide(record, state, isForced: isForced)
        if decision != .skip, !settings.keepsOutputs {
            prepared.ownOutputs = ownOutputs(of: operation, prepared, record)
        }
        return (decision, prepared)
    }

    private func decideWithoutFiles(_ index: Int, _ fingerprint: Fingerprint) -> UpToDate.Decision {
        guard let done, !isForced else { return .run(isForced ? .forced : .undeclared) }
        if let ran = before.ran ?? (before.lastRun > lastRuns[index] ? "an operation before" : nil) {
            return .run(.earlierRan(ran))
        }
        let latest = ran.withLock { ran in
            plan.operations[index].awaited.lazy.joined().first {
                ran.contains($0) || lastRuns[$0] > lastRuns[index]
            }
        }
        if let earlier = latest { return .run(.earlierRan(plan.operations[earlier].name)) }
        guard let last = done[ByteKey(plan.operations[index].name)] else { return .run(.noRecord) }
        return UpToDate.difference(last, fingerprint).map { .run($0) } ?? .skip
    }

    /// Counts an operation as one that runs, without a record. For a forecast.
    func assumesRun(of index: Int) { ran.withLock { _ = $0.insert(index) } }

    /// Records that the command of an operation begins.
    func began(_ index: Int, _ prepared: Prepared) {
        ran.withLock { _ = $0.insert(index) }
        if prepared.isDeclared || done != nil { store?.append(.operationBegan(name: plan.operations[index].name)) }
    }

    /// Records the first process of a command, which the next run has to end if this process is killed.
    func started(_ index: Int, _ mark: ProcessMark) {
        store?.append(.processBegan(name: plan.operations[index].name, mark))
    }

    // MARK: - After a command

    /// Examines the files of an operation after its command, and removes the outputs of a command that did not succeed.
    ///
    /// - Returns: The outcome, which is a failure if an output is missing, and the record of the operation.
    func settle(_ index: Int, _ prepared: Prepared, _ outcome: Outcome) -> (Outcome, OperationRecord) {
        let operation = plan.operations[index]
        var record = OperationRecord(
            name: operation.name, fingerprint: prepared.fingerprint, end: outcome == .cancelled ? .cancelled : .failed)
        var outcome = outcome
        if outcome == .succeeded {
            if let failure = examineFiles(of: operation, prepared, &record) {
                outcome = .failed(failure)
            } else {
                record.end = .succeeded
            }
        }
        if outcome != .succeeded { removeOutputs(of: operation, prepared) }
        return (outcome, record)
    }

    /// Records the files of an operation whose command succeeded. Returns the failure of an operation without a declared file.
    private func examineFiles(
        of operation: PlannedOperation, _ prepared: Prepared, _ record: inout OperationRecord
    ) -> Outcome.Failure? {
        let settings = operation.settings
        record.inputs = prepared.inputs
        record.outputs = examiner.examine(settings.outputs ?? [], in: operation.directory)
        if let missing = Self.missing(settings.outputs ?? [], among: record.outputs) { return .missingOutput(missing) }
        guard let depfile = settings.depfile else { return nil }
        guard let bytes = Self.read(FileExaminer.full(depfile, in: operation.directory)) else {
            return .missingOutput(depfile)
        }
        do throws(DepFile.BadText) {
            let paths = try DepFile(bytes).paths
            // The command makes its outputs itself, and they are compared as outputs.
            let made = Set(record.outputs.map { ByteKey($0.path) })
            record.listed = paths.filter { !made.contains(ByteKey($0)) }
        } catch {
            return .badDepfile(depfile, line: error.line)
        }
        // The contents before the command count for files that are declared as well.
        record.inputs = (record.inputs + listedInputs(of: operation, record.listed, prepared)).sortedByPath
        return nil
    }

    /// Returns the contents of the files of a depfile. A file that the command may have read before a change is uncertain,
    /// unless it had its present content before the command already.
    private func listedInputs(
        of operation: PlannedOperation, _ listed: [String], _ prepared: Prepared
    ) -> [FileRecord] {
        let before = Dictionary(prepared.listed.map { (ByteKey($0.path), $0.content) }) { first, _ in first }
        let after = examiner.examine(paths: listed, in: operation.directory, unchangedSince: prepared.start)
        return after.map { record in
            guard record.content == .uncertain, let old = before[ByteKey(record.path)],
                let present = examiner.examine(paths: [record.path], in: operation.directory).first,
                present.content == old
            else { return record }
            return present
        }
    }

    /// Returns the first declared path for which there is no file.
    private static func missing(_ declared: [String], among records: [FileRecord]) -> String? {
        declared.first { path in
            guard Glob.isPattern(path) else {
                let path = Glob.literal(path)
                return records.contains { $0.path.hasSameBytes(as: path) && $0.content == .missing }
            }
            return !records.contains { $0.content != .missing }
        }
    }

    /// Returns the outputs that are removed if the command changes them and does not succeed.
    ///
    /// Removal must never lose a file of the user. So a file that exists before the command counts only if the last success of
    /// the operation has made it with the same content. Files that match a glob or are in a folder stay: another program may
    /// have made them.
    private func ownOutputs(
        of operation: PlannedOperation, _ prepared: Prepared, _ record: OperationRecord?
    ) -> Set<ByteKey> {
        let before = Dictionary(prepared.outputs.map { (ByteKey($0.path), $0.content) }) { first, _ in first }
        let made = Dictionary((record?.outputs ?? []).map { (ByteKey($0.path), $0.content) }) { first, _ in first }
        let own = operation.namedOutputs.lazy.map { ByteKey($0) }.filter { path in
            if case .file? = before[path] { return before[path] == made[path] }
            var status = stat()
            return FileExaminer.full(path.text, in: operation.directory).withFileName { lstat($0, &status) } != 0
                && errno == ENOENT
        }
        return Set(own)
    }

    /// Removes the outputs that the command of an operation has made or changed.
    private func removeOutputs(of operation: PlannedOperation, _ prepared: Prepared) {
        guard !prepared.ownOutputs.isEmpty else { return }
        let old = Dictionary(prepared.outputs.map { (ByteKey($0.path), $0.content) }) { first, _ in first }
        let paths = prepared.ownOutputs.map(\.text)
        for path in paths {
            var status = stat()
            let full = FileExaminer.full(path, in: operation.directory)
            guard full.withFileName({ lstat($0, &status) }) == 0, status.st_mode & S_IFMT != S_IFDIR,
                examiner.examine(paths: [path], in: operation.directory).first?.content != old[ByteKey(path)]
                    || old[ByteKey(path)] == .missing,
                !isProtected(full)
            else { continue }
            _ = full.withFileName { unlink($0) }
        }
    }

    private func isProtected(_ path: String) -> Bool {
        kept.withLock { kept in
            let paths = kept ?? ProtectedPaths(plan, workflow: store?.workflow)
            kept = paths
            return paths.contains(path)
        }
    }

    /// Records the end of an operation.
    func ended(_ index: Int, _ conclusion: Conclusion, _ record: OperationRecord?, _ spool: OutputSpool?) {
        guard let store else { return }
        let group = EndGroup(kind: conclusion.outcome.kind, text: conclusion.outcome.text)
        if record == nil, [.upToDate, .skipped].contains(group.kind) {
            // An operation that is up to date stays so, also if this process is killed before the entry is written. One that was
            // skipped has not succeeded in any case.
            return groups.withLock { $0[group, default: []].append(index) }
        }
        var end = OperationEnd(name: conclusion.name, kind: group.kind, text: group.text)
        end.duration = conclusion.duration.map { Int64($0 / .nanoseconds(1)) }
        end.log = spool.map { store.writeLog($0, of: conclusion.name) } ?? .empty
        end.record = record
        store.append(.operationEnded(end))
    }

    private static func read(_ path: String) -> [UInt8]? {
        let file = path.withFileName { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            let count = Glibc.read(file, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return count == 0 ? bytes : nil }
            bytes += chunk[..<count]
        }
    }
}

extension Outcome {
    fileprivate var kind: OperationEnd.Kind {
        switch self {
        case .succeeded: .succeeded
        case .upToDate: .upToDate
        case .failed: .failed
        case .skipped, .unneeded: .skipped
        case .cancelled: .cancelled
        }
    }

    fileprivate var text: String {
        switch self {
        case .failed(let failure): RunReport.text(of: failure)
        case .skipped(let reason), .unneeded(let reason): reason
        case .succeeded, .upToDate, .cancelled: ""
        }
    }
}

extension PlannedOperation {
    /// The outputs that are declared by their names, and not by globs.
    var namedOutputs: [String] {
        (settings.outputs ?? []).filter { !Glob.isPattern($0) }.map { Glob.literal($0) }
    }
}
