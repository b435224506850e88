import Dispatch
import Synchronization

/// The programs of Slurm, and the limits of the cluster.
struct SlurmTools: Sendable {
    /// The end of a program and its output.
    struct Output: Equatable, Sendable {
        let end: ProcessEnd
        let text: String

        /// The output of a program that succeeded. `nil` for a failure.
        var success: String? { end == .exit(0) ? text : nil }

        /// The reason of a failure, on one line.
        var reason: String {
            let lines = text.split(separator: "\n").map { $0.hasPrefix("sbatch: ") ? $0.dropFirst(8) : $0 }
            if !lines.isEmpty { return lines.suffix(3).joined(separator: "; ") }
            return switch end {
            case .exit(let status): "exit \(status)"
            case .signal(let number): "signal \(number)"
            case .unknown(let reason): reason
            }
        }
    }

    /// Runs a program, and returns when it has ended.
    let run: @Sendable (_ words: [String]) -> Output

    init(_ run: @escaping @Sendable ([String]) -> Output) { self.run = run }

    /// Creates tools that start programs. The watch reaps all children of this process, so the programs must be commands of it.
    init(_ watch: ProcessWatch, limit: Duration = .seconds(60)) {
        let spools = SpoolDirectory()
        run = { words in
            let operation = PlannedOperation(
                name: words[0], command: "", program: words, directory: ".", queue: QueueDescription.defaultName)
            let spool = spools.makeSpool()
            let end = Mutex<CommandEnd?>(nil)
            let isDone = DispatchSemaphore(value: 0)
            do {
                try watch.start(operation, as: watch.makeToken()) { process in
                    var watched = ProcessWatch.Watched(process: process, spool: spool) { found in
                        end.withLock { $0 = found }
                        isDone.signal()
                    }
                    watched.limit = limit
                    return watched
                }
            } catch {
                return Output(
                    end: .unknown((error as? Shortage)?.text ?? (error as? StartFailure)?.text ?? "\(error)"), text: "")
            }
            isDone.wait()
            let bytes = (try? spool.tail(byteCount: 64 << 20)) ?? []
            return Output(
                end: end.withLock { $0?.end } ?? .unknown("no end"), text: String(decoding: bytes, as: UTF8.self))
        }
    }

    /// The limits of a cluster.
    struct Limits: Equatable, Sendable {
        /// The number of tasks in an array.
        var arraySize = 1001
        /// The number of jobs that Slurm holds.
        var jobs = 10_000

        init() {}

        /// Reads the output of `scontrol show config`.
        init(_ text: String) {
            for line in text.split(separator: "\n") {
                let fields = line.split(whereSeparator: \.isWhitespace)
                guard fields.count == 3, fields[1] == "=", let number = Int(fields[2]) else { continue }
                if fields[0] == "MaxArraySize" { arraySize = max(number, 1) }
                if fields[0] == "MaxJobCount" { jobs = max(number, 1) }
            }
        }
    }

    /// Returns the limits of the cluster.
    ///
    /// - Throws: `RunFailure` if the cluster does not answer.
    func limits() throws(RunFailure) -> Limits {
        let output = run(["scontrol", "show", "config"])
        guard let text = output.success else {
            throw RunFailure(description: "Slurm does not answer: \(output.reason)")
        }
        return Limits(text)
    }

    /// Returns the jobs of opq by their places. `nil` if Slurm does not answer.
    func jobs() -> [SlurmJobPlace: [SlurmSighting]]? {
        guard let text = run(SlurmSighting.arguments).success else { return nil }
        return Dictionary(
            grouping: text.split(separator: "\n").compactMap { SlurmSighting(line: $0) }, by: \.place)
    }

    /// Cancels jobs. Slurm ends their processes after a while.
    func cancel(_ identifiers: [String], isKill: Bool = false) {
        for start in stride(from: 0, to: identifiers.count, by: 500) {
            let part = identifiers[start..<min(start + 500, identifiers.count)]
            // Without `--full`, a signal reaches only steps, and not the script of the job and its children.
            if isKill { _ = run(["scancel", "--full", "--signal=KILL"] + part) }
            _ = run(["scancel"] + part)
        }
    }

    /// Returns the identifier of a job from the output of `sbatch --parsable`, in which warnings may stand too.
    static func identifier(in text: String) -> String? {
        text.split(separator: "\n").lazy.map { $0.prefix { $0 != ";" } }.last { Int($0) != nil }.map(String.init)
    }

    /// Whether a call of `sbatch` with this output may succeed later. The job may have been accepted nevertheless.
    static func isPassing(_ output: Output) -> Bool {
        if case .signal = output.end { return true }
        let text = output.text.lowercased()
        return [
            "unable to contact", "timed out", "temporarily", "connection refused", "connection reset", "zero bytes",
        ]
        .contains { text.contains($0) }
    }
}
