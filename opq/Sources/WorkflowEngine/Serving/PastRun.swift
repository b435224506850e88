/// A run of the past, for a page.
public struct PastRun: Equatable, Sendable {
    /// An operation that ended, or whose command began.
    public struct Row: Equatable, Sendable {
        public let name: String
        public let state: RunBoard.State
        /// The reason of a failure or of a skip, or `up to date`.
        public let note: String
        /// The running time of the command. `nil` if it did not run.
        public let ran: Duration?
        /// Whether the log that is kept is that of this run: the last one in which the command ran.
        public let hasLog: Bool
    }

    /// The number of the run, and the local time of its beginning.
    public let title: String
    /// `nil` for a run that did not end.
    public let took: Duration?
    public let rows: [Row]
}

extension RunRecords {
    /// The number of runs that a page shows.
    private static let shownRuns = 20

    /// Returns the last 20 runs, the last one first, or one run.
    ///
    /// - Parameters:
    ///   - number: The number of the only run. `nil` for the last ones.
    ///   - names: The operations to show. Empty for all.
    /// - Throws: ``Failure`` if there is no such run or operation.
    public func pastRuns(run number: Int?, names: [String]) throws(Failure) -> [PastRun] {
        // The errors are those of the list.
        _ = try show(run: number, names: names)
        let names = Set(names.map(ByteKey.init))
        var later: Set<ByteKey> = []
        var found: [PastRun] = []
        for run in runs.reversed() where found.count < Self.shownRuns {
            if number == nil || run.number == number { found.append(PastRun(run, only: names, later: later)) }
            for end in run.ends where end.duration != nil { later.insert(ByteKey(end.name)) }
        }
        return found
    }

    /// Returns the end of the log of an operation.
    ///
    /// - Throws: ``Failure`` if no output is recorded.
    public func endOfLog(of name: String, byteCount: Int) throws -> String {
        var end: [UInt8] = []
        try readLog(of: name) { chunk in
            end += chunk
            if end.count > byteCount { end.removeFirst(end.count - byteCount) }
        }
        return String(decoding: end, as: UTF8.self)
    }
}

extension PastRun {
    /// - Parameter later: The operations whose commands ran in a later run.
    init(_ run: RunHistory.Run, only names: Set<ByteKey>, later: Set<ByteKey>) {
        title = "run \(run.number), \(RunRecords.date(run.time))"
        took = run.endTime.map { .nanoseconds(max($0 - run.time, 0)) }
        func isShown(_ key: ByteKey) -> Bool { names.isEmpty || names.contains(key) }
        let ended = run.ends.filter { isShown(ByteKey($0.name)) }.map { end in
            Row(
                name: end.name, state: RunBoard.State(end.kind), note: end.kind == .upToDate ? "up to date" : end.text,
                ran: end.duration.map { .nanoseconds($0) },
                hasLog: end.log == .inFile && !later.contains(ByteKey(end.name)))
        }
        let left = run.unended.filter(isShown).map { key in
            Row(name: key.text, state: .cancelled, note: "did not end", ran: nil, hasLog: false)
        }
        rows = ended + left
    }
}

extension RunBoard.State {
    init(_ kind: OperationEnd.Kind) {
        switch kind {
        case .succeeded, .upToDate: self = .done
        case .failed: self = .failed
        case .skipped: self = .skipped
        case .cancelled: self = .cancelled
        }
    }
}
