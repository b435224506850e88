/// A job, or a task of a job array, as `squeue` shows it.
struct SlurmSighting: Equatable, Sendable {
    /// The arguments of `squeue` whose output ``init(line:)`` reads: all jobs of the user, and each task of an array.
    static let arguments = ["squeue", "--me", "-h", "-r", "-t", "all", "-o", "%k|%K|%i|%T|%r"]

    /// The states of a job that has ended. Every other state counts as live, also one that a later Slurm adds.
    private static let endStates: Set<String> = [
        "BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PREEMPTED",
        "REVOKED",
        "TIMEOUT",
    ]

    /// The place of the job. Its batch is in the comment.
    let place: SlurmJobPlace
    /// The identifier for `scancel`: `12`, or `12_3` for a task of an array.
    let identifier: String
    /// The state as Slurm writes it.
    let state: String
    /// The reason that Slurm gives for the state.
    let reason: String

    /// Reads a line of the output. `nil` for a job that opq has not submitted.
    init?(line: Substring) {
        let fields = line.split(separator: "|", maxSplits: 4, omittingEmptySubsequences: false)
        guard fields.count == 5, fields[0].hasPrefix(SlurmPlace.commentPrefix) else { return nil }
        // A job that is no array has no index.
        place = SlurmJobPlace(
            batch: String(fields[0].dropFirst(SlurmPlace.commentPrefix.count)), index: Int(fields[1]) ?? 0)
        identifier = String(fields[2])
        state = String(fields[3])
        reason = String(fields[4])
    }

    init(place: SlurmJobPlace, identifier: String = "1", state: String, reason: String = "None") {
        (self.place, self.identifier, self.state, self.reason) = (place, identifier, state, reason)
    }

    /// Whether processes of the job may run or start. A job that is `COMPLETING` still runs.
    var isLive: Bool { !Self.endStates.contains(state) }

    /// Whether the job waits for its start.
    var isPending: Bool { state == "PENDING" }

    /// Whether Slurm has lost the node, so that the processes may still run.
    var isLost: Bool { state == "NODE_FAIL" || state == "BOOT_FAIL" }
}

/// The place of a task: its folder is `BATCH/INDEX` in the folder of all tasks.
struct SlurmPlace: Hashable, Sendable {
    /// The beginning of the comment of a job. The name of the batch follows.
    static let commentPrefix = "opq:"

    /// The name of the batch: the number of the run, a random number, and the number of tasks that share a job, if they do.
    let batch: String
    /// The number of the task in the batch.
    let index: Int

    /// Returns the name of a batch.
    static func batch(run: Int, share: Int) -> String {
        let name = "\(run)-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        return share > 1 ? "\(name)-\(share)" : name
    }

    /// The number of tasks that share a job.
    var share: Int {
        let parts = batch.split(separator: "-", maxSplits: 2)
        return parts.count == 3 ? max(Int(parts[2]) ?? 1, 1) : 1
    }

    /// The job that runs the task, after those of the tasks before it.
    var job: SlurmJobPlace { SlurmJobPlace(batch: batch, index: index / share) }
}

/// The place of a job.
struct SlurmJobPlace: Hashable, Sendable {
    let batch: String
    /// The index in the job array. 0 for a job that is no array.
    let index: Int
}
