/// The state of a command that was handed to Slurm, until its end is known.
///
/// The value performs no actions. The result file of the command is the truth. Slurm forgets jobs after a while, loses those that it
/// accepted just before a crash, and reports a job as failed whose processes still run.
struct SlurmTask: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// The answer of Slurm to the question about a job.
    enum Answer: Equatable, Sendable {
        case job(SlurmSighting)
        /// Slurm knows no such job.
        case missing
        /// Slurm did not answer.
        case none
    }

    /// The files that the job has written.
    struct Files: Equatable, Sendable {
        var result: SlurmResult?
        /// Whether the command may have started. No job starts it again.
        var isClaimed = false
        /// The time of the file that the script writes again and again, in nanoseconds since 1970.
        var pulse: Int64?
    }

    enum Action: Equatable, Sendable {
        case wait
        /// Submit the job again, because Slurm has lost it before its start.
        case submit
        /// Report the end. The duration is `nil` if it is unknown.
        case finish(CommandEnd, Duration?)
    }

    /// The time in which the files of an ended job may appear on this machine, for example by NFS. It is longer than the pause
    /// between two signs of life.
    static let patience = Duration.seconds(15)
    /// The time between two signs of life from a node that Slurm has lost. The processes continue without Slurm's daemon.
    static let nodePatience = Duration.seconds(300)
    /// The number of times that a job is submitted.
    static let submissions = 3

    /// The time since when the job is gone and its script has given no sign of life.
    private var goneSince: Instant?
    private var pulse: Int64?
    private var submissionCount = 1
    /// The last state of the job that Slurm has reported.
    private var last: SlurmSighting?
    /// Whether the command was asked to end.
    private(set) var isEnding = false

    /// Records that the command was asked to end.
    mutating func end() { isEnding = true }

    /// Decides the next step.
    mutating func look(_ answer: Answer, _ files: Files, at now: Instant) -> Action {
        if case .job(let job) = answer { last = job }
        if let result = files.result {
            // After a cancellation, the processes of the job may run until Slurm kills them.
            if isEnding, case .job(let job) = answer, job.isLive { return .wait }
            return .finish(result.end, result.duration)
        }
        switch answer {
        case .none: return .wait
        case .job(let job) where job.isLive:
            goneSince = nil
            return .wait
        default: break
        }
        // The script may still run: on a node that Slurm has lost, or while Slurm has started the job a second time.
        if files.pulse != pulse { goneSince = nil }
        pulse = files.pulse
        let since = goneSince ?? now
        goneSince = since
        if isEnding, !files.isClaimed { return .finish(CommandEnd(end: .unknown(text), hasTimedOut: false), nil) }
        let isLost = last?.isLost ?? false
        guard now - since >= (isLost && files.isClaimed ? Self.nodePatience : Self.patience) else { return .wait }
        if !files.isClaimed, answer == .missing || isLost, submissionCount < Self.submissions {
            submissionCount += 1
            goneSince = nil
            last = nil
            return .submit
        }
        return .finish(CommandEnd(end: .unknown(text), hasTimedOut: last?.state == "TIMEOUT"), nil)
    }

    /// The reason for a command without a result.
    private var text: String {
        guard let last else { return "Slurm has lost the job, and there is no result" }
        let reason = last.reason == "None" || last.reason.isEmpty ? "" : " (\(last.reason))"
        return last.isLive
            ? "Slurm has forgotten the job, and there is no result"
            : "Slurm ended the job as \(last.state)\(reason), and there is no result"
    }
}
