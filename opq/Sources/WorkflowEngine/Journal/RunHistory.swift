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
        /// The operations that ended, in the order of their ends.
        var ends: [OperationEnd] = []
    }

    /// The runs, the first one first.
    private(set) var runs: [Run] = []
    /// The operations whose output is in a file.
    private(set) var loggedNames: Set<ByteKey> = []
    private var records: [ByteKey: OperationRecord] = [:]
    private var names: [Digest: String] = [:]
    /// The contents of files that were read.
    private(set) var cache = StatCache()

    /// Creates a history from the entries of a journal.
    init(_ entries: [JournalEntry] = []) {
        for entry in entries { add(entry) }
    }

    /// Adds an entry.
    mutating func add(_ entry: JournalEntry) {
        switch entry {
        case .runBegan(let number, let time, let file): runs.append(Run(number: number, time: time, file: file))
        case .operationBegan(let name): records[ByteKey(name)]?.end = .unknown
        case .operationEnded(let end):
            if end.hasLog { loggedNames.insert(ByteKey(end.name)) }
            if !runs.isEmpty { runs[runs.count - 1].ends.append(end) }
            guard let record = end.record else { return }
            records[ByteKey(record.name)] = record
            names[record.fingerprint.digest] = record.name
            for file in record.inputs + record.outputs { cache.add(file) }
        case .seen(let files): for file in files { cache.add(file) }
        case .runEnded(let time, let isInterrupted):
            guard !runs.isEmpty else { return }
            runs[runs.count - 1].endTime = time
            runs[runs.count - 1].isInterrupted = isInterrupted
        }
    }

    /// Returns the record of an operation: by its name, or by its command if the operation was renamed.
    func record(of name: String, _ fingerprint: Fingerprint) -> OperationRecord? {
        records[ByteKey(name)] ?? names[fingerprint.digest].flatMap { records[ByteKey($0)] }
    }

    /// The entries of a shorter journal: the last runs, the records of all operations, and the contents of files.
    static func compacted(_ entries: [JournalEntry], keepingRuns count: Int) -> [JournalEntry] {
        let starts = entries.indices.filter { if case .runBegan = entries[$0] { true } else { false } }
        guard starts.count > count, let first = starts.suffix(count).first else { return entries }
        var kept: [ByteKey: OperationEnd] = [:]
        for case .operationEnded(let end) in entries[..<first] where end.record != nil { kept[ByteKey(end.name)] = end }
        // Without a run before them, these ends count for no run.
        let ends = kept.values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        return ends.map { .operationEnded($0) } + entries[first...]
    }
}

/// A text as a key of a dictionary, which is equal to texts of the same bytes only.
struct ByteKey: Hashable, Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (left: ByteKey, right: ByteKey) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
