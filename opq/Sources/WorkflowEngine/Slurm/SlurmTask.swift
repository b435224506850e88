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
        /// Submit the job again, because it has ended before it started the command.
        case submit
        /// Report the end. The duration is `nil` if it is unknown.
        case finish(CommandEnd, Duration?)
    }

    /// The way in which a command ends that was asked to end.
    enum Ending: Equatable, Sendable {
        /// Cancel the job, and wait until its processes have ended.
        case cancelJob
        /// End the command only. The job continues with the next one.
        case stopCommand
        /// The command never starts.
        case finish
    }

    /// The time in which the files of an ended job may appear on this machine, for example by NFS. It is longer than the pause
    /// between two signs of life.
    static let patience = Duration.seconds(15)
    /// The time between two signs of life from a node that Slurm has lost. The processes continue without Slurm's daemon.
    static let nodePatience = Duration.seconds(300)
    /// The number of times that a job is submitted without having started a further command.
    static let submissions = 3

    /// The time since when the job is gone and its script has given no sign of life.
    private var goneSince: Instant?
    private var pulse: Int64?
    private var submissionCount = 1
    /// The last state of the job that Slurm has reported.
    private var last: SlurmSighting?
    /// The first command of the job that had not started when the job was submitted.
    private var head: Int
    /// Whether the command was asked to end.
    private(set) var isEnding = false
    /// Whether opq has seen to it that the command never runs.
    private(set) var isWithdrawn = false

    /// Creates the state of a command in a job.
    ///
    /// - Parameter head: The index of the first command of the job.
    init(head: Int = 0) { self.head = head }

    /// Records that the command was asked to end.
    mutating func end() { isEnding = true }

    /// Records that no job ever starts the command.
    mutating func withdraw() { isWithdrawn = true }

    /// Decides how the command ends, which was asked to.
    ///
    /// - Parameter sharers: The commands of the job that have not ended, this one included.
    func ending(_ sharers: SlurmSharers) -> Ending {
        sharers.allEnd ? .cancelJob : isWithdrawn ? .finish : .stopCommand
    }

    /// Decides the next step.
    ///
    /// - Parameter sharers: The commands of the job that have not ended, this one included.
    mutating func look(
        _ answer: Answer, _ files: Files, _ sharers: SlurmSharers = .lone, at now: Instant
    ) -> Action {
        if case .job(let job) = answer { last = job }
        let isClaimed = files.isClaimed && !isWithdrawn
        if let result = files.result {
            // After a cancellation, the processes of the job may run until Slurm kills them.
            if isEnding, sharers.allEnd, case .job(let job) = answer, job.isLive { return .wait }
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
        if isEnding, !isClaimed { return .finish(CommandEnd(end: .unknown(text), hasTimedOut: false), nil) }
        let isLost = last?.isLost ?? false
        guard now - since >= (isLost && isClaimed ? Self.nodePatience : Self.patience) else { return .wait }
        // A job that has started further commands has done its part, also if it failed. A person cancels all commands of a job.
        let hasProgress = sharers.head > head && last?.state != "CANCELLED"
        if hasProgress { submissionCount = 0 }
        if !isClaimed, hasProgress || answer == .missing || isLost, submissionCount < Self.submissions {
            submissionCount += 1
            head = sharers.head
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
