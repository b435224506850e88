/// The part of a workflow that a run was asked for, which `opq resume` runs again.
public struct RunChoice: Equatable, Sendable {
    /// The values of variables of the file.
    public var variables: [String: String] = [:]
    /// The names of operations, and those of the options of the same names.
    public var targets: [String] = [], only: [String] = [], from: [String] = [], until: [String] = []
    /// The place of the commands.
    public var place = RunPlace.local
    /// Whether the run continues the one before it.
    public var resumes = false

    /// Creates the choice of all operations.
    public init() {}

    /// The choice as the arguments of a command, for the user.
    public var arguments: [String] {
        var words = targets
        for (option, names) in [("--only", only), ("--from", from), ("--until", until)] {
            for name in names { words += [option, name] }
        }
        for (name, value) in variables.sorted(by: { $0.key < $1.key }) { words += ["--set", "\(name)=\(value)"] }
        if place != .local { words += ["--on", place.rawValue] }
        return words
    }
}

/// The successes of a run and of those that it continues.
struct Resumption: Sendable {
    /// The commands of the operations that succeeded and have not begun again since.
    private(set) var done: [ByteKey: Fingerprint] = [:]
    /// The places in time at which commands ran last.
    private(set) var lastRuns: [ByteKey: Int] = [:]

    /// Creates the successes of the last run, and of the earlier runs that it continues.
    init(_ runs: [RunHistory.Run]) {
        var time = 0
        for run in runs[(runs.lastIndex { !$0.choice.resumes } ?? 0)...] {
            for name in run.begun {
                time += 1
                done[name] = nil
                lastRuns[name] = time
            }
            for end in run.ends {
                let name = ByteKey(end.name)
                time += 1
                switch end.kind {
                case .upToDate where lastRuns[name] != nil: break
                case .succeeded, .upToDate:
                    done[name] = end.record?.fingerprint
                    lastRuns[name] = time
                // A command that did not run keeps its earlier success.
                case .skipped, .cancelled: if end.duration != nil { done[name] = nil }
                case .failed: done[name] = nil
                }
            }
        }
    }
}
