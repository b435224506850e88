import Synchronization

/// The runs of a workflow and the last records of its operations, as the journal has them.
struct RunHistory: Sendable {
    /// A run.
    struct Run: Equatable, Sendable {
        let number: Int
        /// The time of the start, in nanoseconds since 1970.
        let time: Int64
        /// The digest of the workflow file.
        let file: Digest
        /// The time of the end. `nil` if the run did not end.
        var endTime: Int64?
        var isInterrupted = false
        /// The part of the workflow for which the run was asked.
        var choice = RunChoice()
        /// The operations whose commands began.
        var begun: [ByteKey] = []
        /// The operations that have an entry of their own, in the order of their ends.
        var ownEnds: [OperationEnd] = []
        /// The operations that ended without a run of their commands.
        var groups: [EndGroup] = []
        /// The first processes of the commands that did not end.
        var processes: [ByteKey: ProcessMark] = [:]

        /// The operations that ended: first those whose commands did not run, and then the others in the order of their ends.
        var ends: [OperationEnd] {
            groups.flatMap { group in
                group.names.map { OperationEnd(name: $0, kind: group.kind, text: group.text) }
            } + ownEnds
        }

        /// The operations whose commands began and did not end, in the order of their starts as far as those are recorded.
        var unended: [ByteKey] {
            var known = Set(ends.map { ByteKey($0.name) })
            let started = processes.sorted { $0.value.earliest < $1.value.earliest }.map(\.key)
            return (begun + started).filter { known.insert($0).inserted }
        }
    }

    /// Operations that ended without a run of their commands, for the same reason.
    struct EndGroup: Equatable, Sendable {
        let kind: OperationEnd.Kind
        let text: String
        let names: [String]
    }

    /// The runs, the first one first.
    private(set) var runs: [Run] = []
    /// The operations whose output is in a file.
    private(set) var loggedNames: Set<ByteKey> = []
    private var records: [ByteKey: OperationRecord] = [:]
    /// The names of the records, in the order of the entries. A name may occur more than once.
    private var recordedNames: [String] = []
    private var names = NamesByCommand()
    private var nameLists: [Digest: [String]] = [:]
    /// The contents of files that were read.
    private(set) var cache = StatCache()

    /// Creates a history from the entries of a journal.
    init(_ entries: [JournalEntry] = []) {
        let count = entries.count { if case .operationEnded(let end) = $0 { end.record != nil } else { false } }
        records.reserveCapacity(count)
        for entry in entries { add(entry) }
    }

    /// Adds an entry.
    mutating func add(_ entry: JournalEntry) {
        switch entry {
        case .runBegan(let number, let time, let file): runs.append(Run(number: number, time: time, file: file))
        case .chosen(let choice): if !runs.isEmpty { runs[runs.count - 1].choice = choice }
        case .operationBegan(let name):
            if !runs.isEmpty { runs[runs.count - 1].begun.append(ByteKey(name)) }
            records[ByteKey(name)]?.end = .unknown
        case .operationEnded(let end):
            if end.log == .inFile { loggedNames.insert(ByteKey(end.name)) }
            if !runs.isEmpty {
                runs[runs.count - 1].ownEnds.append(end)
                if !runs[runs.count - 1].processes.isEmpty { runs[runs.count - 1].processes[ByteKey(end.name)] = nil }
            }
            guard let record = end.record else { return }
            records[ByteKey(record.name)] = record
            recordedNames.append(record.name)
            if names.areKnown { names = NamesByCommand() }
            for file in record.inputs { cache.add(file) }
            for file in record.outputs { cache.add(file) }
        case .names(let digest, let names): nameLists[digest] = names
        case .endedTogether(let kind, let text, let names):
            guard !runs.isEmpty else { return }
            let group = EndGroup(kind: kind, text: text, names: nameLists[names] ?? [])
            runs[runs.count - 1].groups.append(group)
        case .processBegan(let name, let mark):
            if !runs.isEmpty { runs[runs.count - 1].processes[ByteKey(name)] = mark }
        case .keeps(let count): runs.removeFirst(Self.dropped(runs.map(\.choice.resumes), keeping: count))
        case .seen(let files): for file in files { cache.add(file) }
        case .runEnded(let time, let isInterrupted):
            guard !runs.isEmpty else { return }
            runs[runs.count - 1].endTime = time
            runs[runs.count - 1].isInterrupted = isInterrupted
        }
    }

    /// Returns the duration of the last success of each operation. `nil` if none is recorded.
    func durations(of operations: [PlannedOperation]) -> [Duration?] {
        var known: [ByteKey: Int64] = [:]
        for run in runs {
            for end in run.ownEnds where end.kind == .succeeded { known[ByteKey(end.name)] = end.duration }
        }
        return operations.map { known[ByteKey($0.name)].map { .nanoseconds($0) } }
    }

    /// Returns the record of an operation: by its name, or by its command if the operation was renamed.
    ///
    /// - Parameter isPlanned: Whether an operation has a name now. Its record belongs to no other operation.
    func record(
        of name: String, _ fingerprint: Fingerprint, isPlanned: (ByteKey) -> Bool
    ) -> OperationRecord? {
        if let record = records[ByteKey(name)] { return record }
        let known = names.names { [records, recordedNames] in
            // The last record of a command is the one that counts.
            let pairs = recordedNames.lazy.compactMap { name in
                records[ByteKey(name)].map { ($0.fingerprint.digest, name) }
            }
            return Dictionary(pairs) { $1 }
        }
        guard let old = known[fingerprint.digest].map({ ByteKey($0) }), !isPlanned(old) else { return nil }
        return records[old]
    }

    /// Whether the journal has a list of names.
    func knows(names: Digest) -> Bool { nameLists[names] != nil }

    /// Returns the captured output of the last success of an operation. `nil` if none is recorded.
    func captured(of name: String) -> String? {
        guard let record = records[ByteKey(name)], record.end == .succeeded else { return nil }
        return record.captured
    }

    /// The commands of the last run that did not end, unless the run itself ended.
    var leftCommands: [LeftCommand] {
        guard let last = runs.last, last.endTime == nil else { return [] }
        return last.processes.map { LeftCommand(name: $0.key.text, mark: $0.value) }
            .sorted { $0.mark.earliest < $1.mark.earliest }
    }

    /// Returns the number of runs that a history drops. A run stays as long as a kept run continues it.
    private static func dropped(_ resumes: [Bool], keeping count: Int) -> Int {
        var first = max(resumes.count - max(count, 1), 0)
        while first > 0, resumes[first] { first -= 1 }
        return first
    }

    /// The entries of a shorter journal: the last runs, the records of all operations, and the contents of files.
    static func compacted(_ entries: [JournalEntry], keepingRuns count: Int) -> [JournalEntry] {
        let starts = entries.indices.filter { if case .runBegan = entries[$0] { true } else { false } }
        let resumes = starts.map { start in
            if start + 1 < entries.count, case .chosen(let choice) = entries[start + 1] {
                choice.resumes
            } else {
                false
            }
        }
        let dropped = dropped(resumes, keeping: count)
        guard dropped > 0 else { return entries }
        let first = starts[dropped]
        var kept: [ByteKey: OperationEnd] = [:]
        var lists: [JournalEntry] = []
        for entry in entries[..<first] {
            switch entry {
            case .operationEnded(let end) where end.record != nil: kept[ByteKey(end.name)] = end
            // A command that began and did not end takes its earlier success away.
            case .operationBegan(let name): kept[ByteKey(name)]?.record?.end = .unknown
            case .names: lists.append(entry)
            default: break
            }
        }
        let used = Set(
            entries[first...].compactMap { entry in
                if case .endedTogether(_, _, let names) = entry { names } else { nil }
            })
        lists.removeAll { list in
            if case .names(let digest, _) = list { !used.contains(digest) } else { false }
        }
        // Without a run before them, these ends count for no run.
        let ends = kept.values.sorted { $0.name.bytesPrecede($1.name) }
        return lists + ends.map { .operationEnded($0) } + entries[first...]
    }
}

/// The names of operations by the digests of their commands. They are computed at the first use, because few runs rename an
/// operation.
private final class NamesByCommand: Sendable {
    private let names = Mutex<[Digest: String]?>(nil)

    /// Whether the names were asked for.
    var areKnown: Bool { names.withLock { $0 != nil } }

    func names(_ compute: @Sendable () -> [Digest: String]) -> [Digest: String] {
        names.withLock { names in
            let known = names ?? compute()
            names = known
            return known
        }
    }
}

/// A text as a key of a dictionary, which is equal to texts of the same bytes only.
struct ByteKey: Hashable, Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (left: ByteKey, right: ByteKey) -> Bool { left.text.hasSameBytes(as: right.text) }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
