import Glibc
import Operations
import Synchronization

/// The decisions of one run about its operations, and their records.
final class RunJournal: Sendable {
    /// The files of an operation before its command.
    struct Prepared: Sendable {
        let fingerprint: Fingerprint
        var inputs: [FileRecord] = []
        var outputs: [FileRecord] = []
        /// The time before the command, in nanoseconds since 1970.
        var start: Int64 = 0
        let isDeclared: Bool
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
    private let ran = Mutex<Set<Int>>([])
    private let known = Mutex<Set<ByteKey>?>(nil)

    /// Creates the journal of a run.
    ///
    /// - Parameters:
    ///   - store: The store to which the run is recorded. `nil` if the workflow has no file.
    ///   - isForced: Whether all operations run, also those that are up to date.
    ///   - resumes: Whether operations that succeeded in the last run are done.
    init(of plan: WorkflowPlan, in store: RunStore?, isForced: Bool, resumes: Bool) {
        (self.plan, self.store, self.isForced) = (plan, store, isForced)
        history = store?.history ?? RunHistory()
        examiner = FileExaminer(history.cache)
        var done: [ByteKey: Fingerprint] = [:]
        for end in history.runs.last?.ends ?? [] {
            let isDone = end.kind == .succeeded || end.kind == .upToDate
            done[ByteKey(end.name)] = isDone ? end.record?.fingerprint : nil
        }
        self.done = resumes ? done : nil
        files.name = "opq-files"
        files.maxConcurrentOperationCount = 2
    }

    // MARK: - The run

    /// Records the start of the run.
    func begin(file: Digest) {
        store?.append(.runBegan(number: (history.runs.last?.number ?? 0) + 1, time: FileExaminer.now, file: file))
    }

    /// Records the end of the run. Returns the reason why entries are missing, or `nil`.
    func end(isInterrupted: Bool) -> String? {
        guard let store else { return nil }
        let read = examiner.takeRead()
        if !read.isEmpty { store.append(.seen(read)) }
        store.append(.runEnded(time: FileExaminer.now, isInterrupted: isInterrupted))
        store.synchronize()
        return store.writeFailure
    }

    // MARK: - Before a command

    /// Decides whether an operation runs, and examines its files.
    func prepare(_ index: Int) -> (decision: UpToDate.Decision, prepared: Prepared) {
        let operation = plan.operations[index]
        let settings = operation.settings
        let fingerprint = Fingerprint(operation, base: plan.directory)
        let isDeclared = settings.inputs != nil || settings.outputs != nil
        var prepared = Prepared(fingerprint: fingerprint, isDeclared: isDeclared)
        prepared.start = FileExaminer.now
        guard isDeclared else { return (decideWithoutFiles(index, fingerprint), prepared) }
        let record = history.record(of: operation.name, fingerprint)
        let examined = examiner.examine(
            (settings.inputs ?? []) + (record?.listed ?? []), in: operation.directory)
        prepared.outputs = examiner.examine(settings.outputs ?? [], in: operation.directory)
        let state = UpToDate.State(
            fingerprint: fingerprint, inputs: examined, outputs: prepared.outputs, isDeclared: true)
        let decision = UpToDate.decide(record, state, isForced: isForced)
        // The files of the last depfile are no inputs of this run, unless the new depfile lists them again.
        if decision != .skip { prepared.inputs = examiner.examine(settings.inputs ?? [], in: operation.directory) }
        return (decision, prepared)
    }

    private func decideWithoutFiles(_ index: Int, _ fingerprint: Fingerprint) -> UpToDate.Decision {
        guard let done, !isForced else { return .run(isForced ? .forced : .undeclared) }
        let earlier = ran.withLock { ran in
            ran.isEmpty ? nil : plan.operations[index].awaited.lazy.joined().first { ran.contains($0) }
        }
        if let earlier { return .run(.earlierRan(plan.operations[earlier].name)) }
        guard let last = done[ByteKey(plan.operations[index].name)] else { return .run(.noRecord) }
        return UpToDate.difference(last, fingerprint).map { .run($0) } ?? .skip
    }

    /// Records that the command of an operation begins.
    func began(_ index: Int, _ prepared: Prepared) {
        ran.withLock { _ = $0.insert(index) }
        if prepared.isDeclared { store?.append(.operationBegan(name: plan.operations[index].name)) }
    }

    // MARK: - After a command

    /// Examines the files of an operation after its command, and removes the outputs of a command that did not succeed.
    ///
    /// - Returns: The outcome, which is a failure if an output is missing, and the record of the operation.
    func settle(_ index: Int, _ prepared: Prepared, _ outcome: Outcome) -> (Outcome, OperationRecord) {
        let operation = plan.operations[index]
        let settings = operation.settings
        var record = OperationRecord(
            name: operation.name, fingerprint: prepared.fingerprint, end: outcome == .cancelled ? .cancelled : .failed)
        guard outcome == .succeeded else {
            if !settings.keepsOutputs { removeOutputs(of: index, prepared) }
            return (outcome, record)
        }
        record.inputs = prepared.inputs
        record.outputs = examiner.examine(settings.outputs ?? [], in: operation.directory)
        if let missing = Self.missing(settings.outputs ?? [], among: record.outputs) {
            return (.failed(.missingOutput(missing)), record)
        }
        if let depfile = settings.depfile {
            guard let bytes = Self.read(FileExaminer.full(depfile, in: operation.directory)) else {
                return (.failed(.missingOutput(depfile)), record)
            }
            record.listed = DepFile(bytes).paths
            let listed = examiner.examine(record.listed, in: operation.directory, unchangedSince: prepared.start)
            // The contents before the command count for files that are declared as well.
            record.inputs = (record.inputs + listed).sortedByPath
        }
        record.end = .succeeded
        return (outcome, record)
    }

    /// Returns the first declared path for which there is no file.
    private static func missing(_ declared: [String], among records: [FileRecord]) -> String? {
        declared.first { path in
            guard Glob.isPattern(path) else {
                return records.contains { $0.path.utf8.elementsEqual(path.utf8) && $0.content == .missing }
            }
            return !records.contains { $0.content != .missing }
        }
    }

    /// The outputs that operations declare without a glob.
    private var declaredOutputs: Set<ByteKey> {
        known.withLock { known in
            if let known { return known }
            let paths = plan.operations.lazy.flatMap { operation in
                (operation.settings.outputs ?? []).map { ByteKey(FileExaminer.full($0, in: operation.directory)) }
            }
            let declared = Set(paths)
            known = declared
            return declared
        }
    }

    /// Removes the files of the outputs that are new or were changed since the start of the command.
    private func removeOutputs(of index: Int, _ prepared: Prepared) {
        let operation = plan.operations[index]
        let old = Dictionary(prepared.outputs.map { (ByteKey($0.path), $0) }) { first, _ in first }
        for record in examiner.examine(operation.settings.outputs ?? [], in: operation.directory).reversed() {
            let path = FileExaminer.full(record.path, in: operation.directory)
            let isDeclared = (operation.settings.outputs ?? []).contains { $0.utf8.elementsEqual(record.path.utf8) }
            // A glob may match an output that another operation declares.
            if !isDeclared, declaredOutputs.contains(ByteKey(path)) { continue }
            switch (record.content, old[ByteKey(record.path)]?.content) {
            case (.file, let before) where before != record.content, (.uncertain, let before) where before != .other:
                _ = path.withFileName { unlink($0) }
            case (.folder, nil), (.folder, .missing?): _ = path.withFileName { rmdir($0) }
            default: break
            }
        }
    }

    /// Records the end of an operation.
    func ended(_ conclusion: Conclusion, _ record: OperationRecord?, _ spool: OutputSpool?) {
        guard let store else { return }
        var end = OperationEnd(name: conclusion.name, kind: conclusion.outcome.kind, text: conclusion.outcome.text)
        end.duration = conclusion.duration.map { Int64($0 / .nanoseconds(1)) }
        end.hasLog = spool.map { store.writeLog($0, of: conclusion.name) } ?? false
        end.record = record
        // An operation that is up to date stays so, also if this entry is lost.
        store.append(.operationEnded(end), mayWait: end.kind == .upToDate && record == nil)
    }

    private static func read(_ path: String) -> [UInt8]? {
        let file = path.withFileName { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 * 1024)
        while case let count = Glibc.read(file, &chunk, chunk.count), count > 0 { bytes += chunk[..<count] }
        return bytes
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
